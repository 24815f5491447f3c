import { Code, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ClusterDiscoveryService } from "../../../gen/envoy/service/cluster/v3/cds_pb.ts";
import { SnapshotService } from "../../../gen/portolan/v1/snapshot_service_pb.ts";
import { frontApp } from "../../../lib/front/app.ts";
import { readAuthentication } from "../../../lib/front/auth/settings.ts";
import { serveGrpc } from "../../../lib/front/connect/grpc-server.ts";
import { mountConnect } from "../../../lib/front/connect/mount.ts";
import { serveHttp } from "../../../lib/front/node-server.ts";
import { makeSigningKey, publicPart, type SigningJwk } from "../../../lib/snapshot/head/signing-keys.ts";
import { typeUrlOf } from "../../../lib/snapshot/resource-type.ts";
import { worldOf } from "../../snapshot/worlds.ts";
import { testFront } from "../fixtures.ts";
import { nowMs, tokenOf } from "./keys.ts";

const typeUrl = typeUrlOf("clusters");
const closing: (() => unknown)[] = [];
const urls = { http: "", grpc: "" };
let key: SigningJwk;

beforeAll(async () => {
  key = await makeSigningKey("tokens");
  const settings = JSON.stringify({ tokens: { keys: [publicPart(key)] } });
  const { front, publish } = testFront({ authentication: readAuthentication(settings, { now: () => nowMs }) });
  await publish(worldOf({ web: {}, other: {} }));
  const app = frontApp(front);
  mountConnect(app, front);
  const http = await serveHttp(app, 0);
  const grpc = await serveGrpc(front, 0);
  Object.assign(urls, { http: http.url, grpc: grpc.url });
  closing.push(() => front.close(), http.close, grpc.close);
});

afterAll(async () => {
  for (const close of closing) await close();
});

const version = { httpVersion: "2" } as const;
const transports: readonly (readonly [string, () => Transport])[] = [
  ["Connect in JSON", () => createConnectTransport({ baseUrl: urls.http, httpVersion: "1.1" })],
  [
    "Connect in binary",
    () => createConnectTransport({ baseUrl: urls.http, httpVersion: "1.1", useBinaryFormat: true }),
  ],
  ["Connect over HTTP/2", () => createConnectTransport({ baseUrl: urls.grpc, ...version, useBinaryFormat: true })],
  ["gRPC-Web", () => createGrpcWebTransport({ baseUrl: urls.http, httpVersion: "1.1" })],
  ["gRPC-Web over HTTP/2", () => createGrpcWebTransport({ baseUrl: urls.grpc, ...version })],
  ["gRPC", () => createGrpcTransport({ baseUrl: urls.grpc })],
];

describe.each(transports)("%s", (_name, transport) => {
  const node = (name: string, namespace: string) => ({
    id: `sidecar~10.0.0.5~${name}.${namespace}~${namespace}.svc.cluster.local`,
    cluster: "c",
  });
  const fetch = (headers: Readonly<Record<string, string>> | undefined, asked: ReturnType<typeof node>) =>
    createClient(ClusterDiscoveryService, transport()).fetchClusters({ node: asked, typeUrl }, headers && { headers });
  const delta = (headers: Readonly<Record<string, string>> | undefined, asked: ReturnType<typeof node>) =>
    createClient(SnapshotService, transport()).deltaFetch({ node: asked, typeUrl }, headers && { headers });

  it("lets in nobody without a token, and nobody in another's name", async () => {
    const token = await tokenOf(key, { scope: "node", namespace: "default" });
    const headers = { authorization: `Bearer ${token}` };
    for (const call of [fetch, delta]) {
      await expect(call(undefined, node("web", "default"))).rejects.toMatchObject({ code: Code.Unauthenticated });
      await expect(call({ authorization: "Bearer x.y.z" }, node("web", "default"))).rejects.toMatchObject({
        code: Code.Unauthenticated,
      });
      await expect(call(headers, node("pay", "shop"))).rejects.toMatchObject({ code: Code.PermissionDenied });
      expect(await call(headers, node("web", "default"))).toMatchObject({ resources: [] });
    }
  });
});
