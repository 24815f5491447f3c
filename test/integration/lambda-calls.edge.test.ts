/** The front's Lambda bundle on a real S3 server: Connect and gRPC-Web behind a function URL, client certificates behind API Gateway. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Code, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ClusterDiscoveryService } from "../../gen/envoy/service/cluster/v3/cds_pb.ts";
import { SnapshotService } from "../../gen/portolan/v1/snapshot_service_pb.ts";
import { accountKey } from "../../lib/base/classifier.ts";
import { makeSigningKey, publicPart, type SigningJwk } from "../../lib/snapshot/head/signing-keys.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { typeUrlOf } from "../../lib/snapshot/resource-type.ts";
import { s3Store } from "../../lib/storage/s3.ts";
import { createAuthority, issueIdentity } from "../e2e/certificates.ts";
import { startBridge } from "../e2e/lambda-bridge.ts";
import { tokenOf } from "../front/auth/keys.ts";
import { gatewayEvent } from "../front/auth/presented.ts";
import { clusterWorld } from "../front/connect/cluster-world.ts";
import { nodeOf, pollBody } from "../front/fixtures.ts";
import { type S3Server, startS3 } from "../storage/s3-server.ts";
import { LambdaEnvironments } from "./lambda-environments.ts";
import { lambdaFunctions } from "./lambda-functions.ts";

const typeUrl = typeUrlOf("clusters");
let s3: S3Server;
let folder: string;
let key: SigningJwk;
let authority: string;
let url: LambdaEnvironments;
let gateway: LambdaEnvironments;
let bridge: Awaited<ReturnType<typeof startBridge>>;

beforeAll(async () => {
  s3 = await startS3();
  folder = await mkdtemp(join(tmpdir(), "portolan-lambda-calls-"));
  const publisher = createPublisher(s3Store({ client: s3.client, bucket: s3.bucket }), {
    pace: { settleMs: 0, retentionMs: 0 },
  });
  const keys = ["web.default", accountKey("web", "web.default")];
  await publisher.publish({ ...clusterWorld({ a: "1" }), nodes: [{ keys, classId: "web" }] }, await publisher.head());
  key = await makeSigningKey("tokens");
  authority = createAuthority(join(folder, "ours"));
  const { front: code } = await lambdaFunctions();
  const variables = {
    PORTOLAN_BUCKET: s3.bucket,
    PORTOLAN_S3_ENDPOINT: s3.endpoint,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: s3.accessKeyId,
    AWS_SECRET_ACCESS_KEY: s3.secretAccessKey,
  };
  const tokens = { tokens: { keys: [publicPart(key)] } };
  url = new LambdaEnvironments(code, { ...variables, PORTOLAN_AUTHENTICATION: JSON.stringify(tokens) });
  const issuers = [await readFile(authority, "utf8")];
  const certificates = { platform: "api-gateway", issuers, trustDomains: ["cluster.local"] };
  gateway = new LambdaEnvironments(code, {
    ...variables,
    PORTOLAN_AUTHENTICATION: JSON.stringify({ certificates }),
    _HANDLER: "index.gatewayHandler",
  });
  bridge = await startBridge(url.handler);
}, 120_000);

afterAll(async () => {
  await bridge?.close();
  await url?.kill();
  await gateway?.kill();
  await s3?.close();
  await rm(folder, { recursive: true, force: true });
});

describe("behind a function URL", () => {
  const { id, cluster } = nodeOf("web");
  it.each([
    ["Connect in JSON", () => createConnectTransport({ baseUrl: bridge.url })],
    ["Connect in binary", () => createConnectTransport({ baseUrl: bridge.url, useBinaryFormat: true })],
    ["gRPC-Web", () => createGrpcWebTransport({ baseUrl: bridge.url })],
  ])("the bundle answers Envoy's methods and DeltaFetch over %s", async (name, transport) => {
    const headers = {
      authorization: `Bearer ${await tokenOf(key, { scope: "node", namespace: "default" }, 600, Date.now())}`,
    };
    const [snapshots, clusters] = [
      createClient(SnapshotService, transport()),
      createClient(ClusterDiscoveryService, transport()),
    ];
    const node = { id, cluster };
    // A resource in JSON needs the descriptors of all types at the client.
    if (name !== "Connect in JSON") {
      expect((await clusters.fetchClusters({ node, typeUrl }, { headers })).resources).toHaveLength(1);
      expect((await snapshots.deltaFetch({ node, typeUrl }, { headers })).resources).toHaveLength(1);
    }
    const refused = { code: Code.Unauthenticated };
    await expect(clusters.fetchClusters({ node, typeUrl })).rejects.toMatchObject(refused);
    await expect(snapshots.deltaFetch({ node, typeUrl })).rejects.toMatchObject(refused);
  });
});

/** An event of an HTTP API with a custom domain, payload format 2.0. */
async function ask(clientCertPem?: string, headers: Readonly<Record<string, string>> = {}) {
  const { requestContext } = clientCertPem === undefined ? { requestContext: {} } : gatewayEvent(clientCertPem);
  const given = await gateway.handler({
    version: "2.0",
    routeKey: "$default",
    rawPath: "/v3/discovery:clusters",
    rawQueryString: "",
    headers: { "content-type": "application/json", host: "portolan.example", ...headers },
    requestContext: {
      accountId: "123456789012",
      apiId: "api",
      domainName: "portolan.example",
      http: { method: "POST", path: "/v3/discovery:clusters", protocol: "HTTP/1.1", sourceIp: "192.0.2.1" },
      stage: "$default",
      ...requestContext,
    },
    body: pollBody("clusters", nodeOf("web")),
    isBase64Encoded: false,
  });
  if (given.kind !== "result") throw new Error("API Gateway takes no stream");
  const { statusCode, headers: told, body, isBase64Encoded } = JSON.parse(JSON.stringify(given.result));
  expect(isBase64Encoded).toBe(true);
  return { status: statusCode, type: told["content-type"], text: Buffer.from(body, "base64").toString() };
}

describe("behind API Gateway with mutual TLS", () => {
  const certificateOf = (spiffeId: string, by = authority) =>
    readFile(join(issueIdentity(by, spiffeId), "cert.pem"), "utf8");

  it("the bundle serves the workload that a client's certificate names, and no other", async () => {
    expect(await ask(await certificateOf("spiffe://cluster.local/ns/default/sa/web"))).toMatchObject({
      status: 200,
      type: "application/json",
      text: expect.stringContaining('"a"'),
    });
    expect((await ask(await certificateOf("spiffe://cluster.local/ns/shop/sa/web"))).status).toBe(403);
  });

  it("refuses another authority's certificate, and a client without one", async () => {
    const id = "spiffe://cluster.local/ns/default/sa/web";
    const foreign = await certificateOf(id, createAuthority(join(folder, "another")));
    expect((await ask(foreign)).status).toBe(401);
    expect((await ask(undefined, { "x-forwarded-client-cert": `URI=${id}` })).status).toBe(401);
  });
});
