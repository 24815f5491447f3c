import { once } from "node:events";
import { createServer, request as httpRequest, type IncomingMessage } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { s3Store } from "../../lib/storage/s3.ts";
import { type Invoke, startBridge } from "../e2e/lambda-bridge.ts";
import { freePort } from "../free-port.ts";
import { nodeOf, pollBody } from "../front/fixtures.ts";
import { resource, worldOf } from "../snapshot/worlds.ts";
import { type S3Server, startS3 } from "../storage/s3-server.ts";
import { LambdaEnvironments } from "./lambda-environments.ts";
import { lambdaFunctions } from "./lambda-functions.ts";

const MB = 1024 * 1024;

/** A class whose clusters are about so large. */
function worldOfBytes(bytes: number) {
  const clusters = Array.from({ length: Math.ceil(bytes / 10_000) }, (_, i) => {
    const name = `cluster-${String(i).padStart(5, "0")}`;
    const text = JSON.stringify({ "@type": "x", name, altStatName: `${i}-`.repeat(2_000).slice(0, 9_900) });
    return { ...resource("clusters", name, ""), text };
  });
  const world = worldOf({ web: { clusters: { a: "1" } } });
  const classes = world.classes.map((one) => ({
    ...one,
    poll: { ...one.poll, clusters: [clusters] },
    stream: { ...one.stream, clusters: [clusters] },
  }));
  return { ...world, classes, nodes: [...world.nodes, { keys: ["web.default"], classId: "web" }] };
}

/** Stands before the S3 server, and breaks off when it is told to. */
async function startProxy(to: string) {
  const port = await freePort();
  const proxy = { url: `http://127.0.0.1:${port}`, isBroken: false, blobs: 0 };
  const server = createServer(async (incoming, outgoing) => {
    const isBlob = incoming.url?.includes("/blobs/") === true;
    if (isBlob) proxy.blobs += 1;
    if (isBlob && proxy.isBroken) return incoming.socket.destroy();
    const { hostname, port: upstream } = new URL(to);
    const { headers, method, url } = incoming;
    const passed = httpRequest({ hostname, port: upstream, headers, method, path: url }, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    passed.on("error", () => outgoing.destroy());
    incoming.pipe(passed);
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return Object.assign(proxy, { close });
}

let s3: S3Server;
let proxy: Awaited<ReturnType<typeof startProxy>>;
let front: LambdaEnvironments;
let signed: LambdaEnvironments;
let bridge: { readonly url: string; close(): Promise<void> };

beforeAll(async () => {
  s3 = await startS3();
  proxy = await startProxy(s3.endpoint);
  const store = s3Store({ client: s3.client, bucket: s3.bucket });
  const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 } });
  await publisher.publish(worldOfBytes(24 * MB), await publisher.head());
  const { front: code } = await lambdaFunctions();
  const variables = {
    PORTOLAN_BUCKET: s3.bucket,
    PORTOLAN_S3_ENDPOINT: proxy.url,
    PORTOLAN_AUTHENTICATION: "off",
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: s3.accessKeyId,
    AWS_SECRET_ACCESS_KEY: s3.secretAccessKey,
  };
  front = new LambdaEnvironments(code, variables);
  const subjects = { [`${role}/*`]: { namespace: "default" } };
  signed = new LambdaEnvironments(code, {
    ...variables,
    PORTOLAN_AUTHENTICATION: JSON.stringify({ iam: true, subjects }),
  });
  bridge = await startBridge(front.handler);
}, 120_000);

afterAll(async () => {
  await bridge?.close();
  await front?.kill();
  await signed?.kill();
  proxy?.close();
  await s3?.close();
});

const ask = (body: string, headers: Record<string, string> = {}) =>
  fetch(`${bridge.url}/v3/discovery:clusters`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
  });

const role = "arn:aws:sts::123456789012:assumed-role/edge";

/** What a function URL with `AWS_IAM` adds to the event of a request that somebody has signed. */
const signedBy =
  (userArn: string): Invoke =>
  (event) => {
    const { requestContext }: { readonly requestContext?: object } = event;
    return signed.handler({ ...event, requestContext: { ...requestContext, authorizer: { iam: { userArn } } } });
  };

describe("the front on Lambda, streaming through the Runtime API", () => {
  it("answers with more than the 6 MB of a buffered answer, in pieces that begin before all was read", async () => {
    const before = proxy.blobs;
    const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { "content-type": "application/json" };
      const sent = httpRequest(`${bridge.url}/v3/discovery:clusters`, { method: "POST", headers }, resolve);
      sent.on("error", reject);
      sent.end(pollBody("clusters", nodeOf("web")));
    });
    expect([incoming.statusCode, incoming.headers["content-type"]]).toEqual([200, "application/json"]);
    const chunks: Uint8Array[] = [];
    let blobsAtFirst = 0;
    for await (const chunk of incoming) {
      if (chunks.length === 0) blobsAtFirst = proxy.blobs;
      chunks.push(chunk);
    }
    const whole = Buffer.concat(chunks);
    expect(whole.length).toBeGreaterThan(20 * MB);
    expect(whole.length).toBe(Number(incoming.headers["content-length"]));
    const { resources } = JSON.parse(whole.toString("utf8"));
    expect(resources).toHaveLength(Math.ceil((24 * MB) / 10_000));
    expect(blobsAtFirst - before).toBeLessThan((proxy.blobs - before) / 2);
  }, 60_000);

  it("says that nothing is new without a body, and what is wrong with one", async () => {
    const first = await ask(pollBody("clusters", nodeOf("web")));
    const { version_info: version } = JSON.parse(await first.text());
    const same = await ask(pollBody("clusters", nodeOf("web"), { version }));
    expect([same.status, await same.text()]).toEqual([304, ""]);
    const odd = await ask("{");
    expect([odd.status, odd.headers.get("content-type")]).toEqual([400, "application/problem+json"]);
    await odd.text();
    const health = await fetch(`${bridge.url}/healthz?a=1`);
    expect([health.status, await health.json()]).toMatchObject([200, { generation: 1 }]);
  }, 60_000);

  it("ends an answer short when the store fails in the middle of it, so that nobody takes it for whole", async () => {
    await front.kill();
    const response = await ask(pollBody("clusters", nodeOf("web")));
    expect(response.status).toBe(200);
    proxy.isBroken = true;
    await expect(response.text()).rejects.toThrow();
    proxy.isBroken = false;
    const after = await ask(pollBody("clusters", nodeOf("web")));
    expect((await after.text()).length).toBeGreaterThan(20 * MB);
  }, 60_000);
});

describe("the front on Lambda, behind a URL that wants signed requests", () => {
  it.each([
    ["whose role is granted a namespace", `${role}/i-0a1b`, 304],
    ["of another role", "arn:aws:sts::123456789012:assumed-role/edgy/i-0a1b", 401],
  ])(
    "answers a caller %s",
    async (_what, arn, status) => {
      const { version_info: version } = JSON.parse(await (await ask(pollBody("clusters", nodeOf("web")))).text());
      const behind = await startBridge(signedBy(arn));
      const answer = await fetch(`${behind.url}/v3/discovery:clusters`, {
        method: "POST",
        // A client that claims it in a header claims nothing.
        headers: { "content-type": "application/json", "x-amzn-iam-user-arn": `${role}/i-0a1b` },
        body: pollBody("clusters", nodeOf("web"), { version }),
      });
      expect(answer.status).toBe(status);
      await behind.close();
    },
    60_000,
  );
});
