/** The front in workerd, given client certificates in `request.cf`, as Cloudflare does: REST, Connect and gRPC-Web. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { R2Bucket } from "@cloudflare/workers-types";
import { Code, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestHarness } from "wrangler";
import { ClusterDiscoveryService } from "../../gen/envoy/service/cluster/v3/cds_pb.ts";
import { accountKey } from "../../lib/base/classifier.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { typeUrlOf } from "../../lib/snapshot/resource-type.ts";
import { r2Store } from "../../lib/storage/r2.ts";
import { createAuthority, issueIdentity } from "../e2e/certificates.ts";
import { verifiedByCloudflare } from "../front/auth/presented.ts";
import { clusterWorld } from "../front/connect/cluster-world.ts";
import { nodeOf, pollBody } from "../front/fixtures.ts";
import { writeFrontConfig } from "./front-config.ts";

let folder: string;
let harness: ReturnType<typeof createTestHarness>;
let authority: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-worker-certificate-"));
  authority = createAuthority(join(folder, "ours"));
  const issuers = [await readFile(authority, "utf8")];
  const certificates = { platform: "cloudflare", issuers, trustDomains: ["cluster.local"] };
  const configPath = await writeFrontConfig(folder, { main: "functions/front-connect.worker.ts" });
  harness = createTestHarness({
    workers: [{ configPath, vars: { AUTHENTICATION: JSON.stringify({ certificates }) } }],
  });
  await harness.listen();
  const { SNAPSHOTS } = await harness.getWorker<{ readonly SNAPSHOTS: R2Bucket }>("portolan-front").getEnv();
  const publisher = createPublisher(r2Store(SNAPSHOTS), { pace: { settleMs: 0, retentionMs: 0 } });
  const keys = ["web.default", accountKey("web", "web.default")];
  await publisher.publish({ ...clusterWorld({ a: "1" }), nodes: [{ keys, classId: "web" }] }, await publisher.head());
}, 120_000);

afterAll(async () => {
  await harness?.close();
  await rm(folder, { recursive: true, force: true });
});

const certificateOf = (spiffeId: string, by = authority) =>
  readFile(join(issueIdentity(by, spiffeId), "cert.pem"), "utf8");

async function poll(cf: object, headers: Readonly<Record<string, string>> = {}) {
  const response = await harness.getWorker("portolan-front").fetch("http://front/v3/discovery:clusters", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: pollBody("clusters", nodeOf("web")),
    cf,
  });
  return { status: response.status, text: await response.text() };
}

describe("a Worker with client certificates", () => {
  it("serves the workload that a verified one names, and no other", async () => {
    const own = await poll(verifiedByCloudflare(await certificateOf("spiffe://cluster.local/ns/default/sa/web")));
    expect(own).toMatchObject({ status: 200, text: expect.stringContaining('"a"') });
    expect(
      await poll(verifiedByCloudflare(await certificateOf("spiffe://cluster.local/ns/shop/sa/web"))),
    ).toMatchObject({
      status: 403,
    });
  });

  it("refuses one of another authority of the same name, and one that Cloudflare refuses", async () => {
    const id = "spiffe://cluster.local/ns/default/sa/web";
    const foreign = await certificateOf(id, createAuthority(join(folder, "another")));
    expect(await poll(verifiedByCloudflare(foreign))).toMatchObject({
      status: 401,
      text: expect.stringContaining("signed by none"),
    });
    const { tlsClientAuth } = verifiedByCloudflare(await certificateOf(id));
    for (const other of [{ certVerified: "FAILED:certificate has expired" }, { certRevoked: "1" }])
      expect((await poll({ tlsClientAuth: { ...tlsClientAuth, ...other } })).status).toBe(401);
  });

  it("refuses one that is for servers alone", async () => {
    const directory = issueIdentity(authority, "spiffe://cluster.local/ns/default/sa/web", { purposes: "serverAuth" });
    const pem = await readFile(join(directory, "cert.pem"), "utf8");
    expect(await poll(verifiedByCloudflare(pem))).toMatchObject({
      status: 401,
      text: expect.stringContaining("lacks clientAuth"),
    });
  });

  it("believes no header", async () => {
    const { tlsClientAuth } = verifiedByCloudflare(await certificateOf("spiffe://cluster.local/ns/default/sa/web"));
    const absent = { tlsClientAuth: { certPresented: "0", certVerified: "NONE", certRevoked: "0", certRFC9440: "" } };
    const headers = {
      "client-cert": tlsClientAuth.certRFC9440,
      "cf-cert-verified": "true",
      "cf-cert-presented": "true",
    };
    expect((await poll(absent, headers)).status).toBe(401);
    expect((await poll({}, headers)).status).toBe(401);
  });

  it.each([
    ["Connect", createConnectTransport],
    ["gRPC-Web", createGrpcWebTransport],
  ])("takes them over %s too", async (_name, transportOf) => {
    const worker = harness.getWorker("portolan-front");
    const fetchClusters = (cf: object) => {
      const transport = transportOf({
        baseUrl: "http://front",
        useBinaryFormat: true,
        fetch: async (input, { body, headers, method } = {}) => {
          const bytes = body === undefined ? null : await new Response(body).arrayBuffer();
          const answer = await worker.fetch(String(input), {
            method: method ?? "POST",
            headers: Object.fromEntries(new Headers(headers)),
            ...(bytes === null ? {} : { body: bytes }),
            cf,
          });
          return new Response(await answer.arrayBuffer(), {
            status: answer.status,
            headers: Object.fromEntries(answer.headers),
          });
        },
      });
      const { id, cluster } = nodeOf("web");
      return createClient(ClusterDiscoveryService, transport).fetchClusters({
        node: { id, cluster },
        typeUrl: typeUrlOf("clusters"),
      });
    };
    const cf = verifiedByCloudflare(await certificateOf("spiffe://cluster.local/ns/default/sa/web"));
    expect((await fetchClusters(cf)).resources).toHaveLength(1);
    await expect(fetchClusters({})).rejects.toMatchObject({ code: Code.Unauthenticated });
  });
});
