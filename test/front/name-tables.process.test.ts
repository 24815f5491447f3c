import { fromBinary, fromJsonString, toJson } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AggregatedDiscoveryService } from "../../gen/envoy/service/discovery/v3/ads_pb.ts";
import { NameTableSchema } from "../../gen/istio/networking/nds/v1/nds_pb.ts";
import { SnapshotService } from "../../gen/portolan/v1/snapshot_service_pb.ts";
import { createFolderCompiler } from "../../lib/compile/compile-files.ts";
import { defaultWorldOptions } from "../../lib/compile/world/world-of.ts";
import { readFiles } from "../../lib/config/folder/directory.ts";
import { serveGrpc } from "../../lib/front/connect/grpc-server.ts";
import { typeUrlOf } from "../../lib/snapshot/resource-type.ts";
import { testFront } from "./fixtures.ts";

const typeUrl = typeUrlOf("name_tables");
const domain = "shop.svc.cluster.local";

const pod = (name: string, ip: string, capture: boolean) => `
---
apiVersion: v1
kind: Pod
metadata:
  name: ${name}
  namespace: shop
  labels: {app: ${name}, security.istio.io/tlsMode: istio}
  annotations: {proxy.istio.io/config: 'proxyMetadata: {ISTIO_META_DNS_CAPTURE: "${capture}"}'}
spec: {serviceAccountName: web, containers: [{name: app, image: app}]}
status: {phase: Running, podIP: ${ip}, podIPs: [{ip: ${ip}}], conditions: [{type: Ready, status: "True"}]}
`;

const input = (address: string) => `
apiVersion: v1
kind: Service
metadata: {name: db, namespace: shop}
spec: {clusterIP: ${address}, ports: [{name: tcp, port: 5432}]}
${pod("web", "10.1.0.5", true)}${pod("plain", "10.1.0.6", false)}`;

/** As Istio's agent says who it is. */
const nodeOf = (name: string, ip: string, more: Record<string, string>) => ({
  id: `sidecar~${ip}~${name}.shop~${domain}`,
  cluster: `${name}.shop`,
  metadata: { NAMESPACE: "shop", CLUSTER_ID: "Kubernetes", SERVICE_ACCOUNT: "web", ...more },
});
const web = nodeOf("web", "10.1.0.5", { DNS_CAPTURE: "true" });
const plain = nodeOf("plain", "10.1.0.6", { DNS_CAPTURE: "false" });

const tableTo = (address: string) => ({
  table: { [`db.${domain}`]: { ips: [address], registry: "Kubernetes", shortname: "db", namespace: "shop" } },
});
const before = "10.0.0.1";
const after = "10.0.0.2";

const test = testFront();
const compile = createFolderCompiler({ ...defaultWorldOptions, binaryForms: true });
const publish = (address: string) =>
  test.publish(compile(readFiles([{ file: "a.yaml", text: input(address) }]), []).value);
let grpc: Awaited<ReturnType<typeof serveGrpc>>;
beforeAll(async () => {
  await publish(before);
  grpc = await serveGrpc(test.front, 0);
});
afterAll(async () => {
  await grpc.close();
  test.front.close();
});

const post = (path: string, body: object) =>
  test.request(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

interface Answer {
  readonly version_info?: string;
  readonly resources: readonly { readonly name?: string; readonly resource?: object }[];
}

async function answerOf(response: Response): Promise<Answer> {
  expect(response.status).toBe(200);
  return JSON.parse(await response.text());
}

/** The one table of an answer in JSON, which begins with its type. */
function tableIn(json: object | undefined): unknown {
  const { "@type": type, ...table }: { readonly "@type"?: string } = json ?? {};
  expect(type).toBe(typeUrl);
  return toJson(NameTableSchema, fromJsonString(NameTableSchema, JSON.stringify(table)));
}

const tableOf = (binary: Uint8Array | undefined) =>
  toJson(NameTableSchema, fromBinary(NameTableSchema, binary ?? new Uint8Array([255])));

describe("a table of names", () => {
  it("comes by a REST poll that names nothing, and nothing comes again while it is current", async () => {
    const { version_info: version, resources } = await answerOf(
      await post("/v3/discovery:name_tables", { node: web, type_url: typeUrl }),
    );
    expect(resources.map(tableIn)).toEqual([tableTo(before)]);
    const again = await post("/v3/discovery:name_tables", { node: web, type_url: typeUrl, version_info: version });
    expect(again.status).toBe(304);
  });

  it("comes by a delta poll, and by DeltaFetch in JSON and over gRPC", async () => {
    const ask = { node: web, type_url: typeUrl };
    for (const path of ["/v3/delta:name_tables", "/portolan.v1.SnapshotService/DeltaFetch"]) {
      const { resources } = await answerOf(await post(path, ask));
      expect(resources.map(({ resource }) => tableIn(resource))).toEqual([tableTo(before)]);
    }
    const client = createClient(SnapshotService, createGrpcTransport({ baseUrl: grpc.url }));
    const { resources } = await client.deltaFetch({ node: web, typeUrl });
    expect(resources.map(({ resource }) => tableOf(resource?.value))).toEqual([tableTo(before)]);
  });

  it("is none for a proxy that does not capture DNS", async () => {
    const { resources } = await answerOf(await post("/v3/discovery:name_tables", { node: plain, type_url: typeUrl }));
    expect(resources).toEqual([]);
  });
});

describe.each(["state of the world", "delta"] as const)("over a stream, %s", (kind) => {
  it("the table comes to whoever asks as Istio's agent does, and comes again when it changes", async () => {
    await publish(before);
    const client = createClient(AggregatedDiscoveryService, createGrpcTransport({ baseUrl: grpc.url }));
    const closing = new AbortController();
    let isDone = () => {};
    const done = new Promise<void>((resolve) => {
      isDone = resolve;
    });
    async function* asked() {
      // Neither names nor versions: that is all that Istio's agent sends.
      yield { node: web, typeUrl };
      await done;
    }
    const answers =
      kind === "delta"
        ? client.deltaAggregatedResources(asked(), { signal: closing.signal })
        : client.streamAggregatedResources(asked(), { signal: closing.signal });
    const got: unknown[] = [];
    for await (const { resources } of answers) {
      const [first] = resources;
      got.push(tableOf(first !== undefined && "value" in first ? first.value : first?.resource?.value));
      if (got.length === 2) break;
      await publish(after);
    }
    isDone();
    closing.abort();
    expect(got).toEqual([tableTo(before), tableTo(after)]);
  });
});
