import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RouteConfigurationSchema } from "../../gen/envoy/config/route/v3/route_pb.ts";
import { RouteDiscoveryService } from "../../gen/envoy/service/route/v3/rds_pb.ts";
import { SnapshotService } from "../../gen/portolan/v1/snapshot_service_pb.ts";
import { freePort } from "../free-port.ts";
import { program } from "../programs.ts";

const [cli, serverProgram] = [await program("cli"), await program("server")];
const samples = new URL("../../samples/bookshop", import.meta.url).pathname;
const node = { id: "router~127.0.0.1~istio-ingressgateway-1.bookshop~bookshop.svc.cluster.local", cluster: "x" };
const closing: (() => unknown)[] = [];
let grpcUrl = "";

beforeAll(async () => {
  const store = await mkdtemp(join(tmpdir(), "portolan-grpc-"));
  const push = spawn(process.execPath, [cli, "push", samples, "--store", store, "--binary-forms"]);
  expect(await new Promise((resolve) => push.once("exit", resolve))).toBe(0);
  const [port, grpcPort] = [await freePort(), await freePort()];
  const env = { ...process.env, PORTOLAN_STORE: store, PORT: String(port), PORTOLAN_GRPC_PORT: String(grpcPort) };
  const server = spawn(process.execPath, [serverProgram], { env, stdio: "ignore" });
  const exit = new Promise((resolve) => server.once("exit", resolve));
  closing.push(
    () => server.kill("SIGTERM"),
    () => exit,
    () => rm(store, { recursive: true }),
  );
  while (
    !(await fetch(`http://127.0.0.1:${port}/healthz`).then(
      (response) => response.ok,
      () => false,
    ))
  ) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  grpcUrl = `http://127.0.0.1:${grpcPort}`;
});

afterAll(async () => {
  for (const close of closing) await close();
});

describe("the Node server over gRPC, on what portolan push has published", () => {
  it("fetches a route table with its weights", async () => {
    const client = createClient(RouteDiscoveryService, createGrpcTransport({ baseUrl: grpcUrl }));
    const { resources } = await client.fetchRoutes({ node, resourceNames: ["http.10080"] });
    const [table] = resources.map((resource) => anyUnpack(resource, RouteConfigurationSchema));
    const [route] = table?.virtualHosts[0]?.routes ?? [];
    const action = route?.action.case === "route" ? route.action.value.clusterSpecifier : undefined;
    expect(action?.case === "weightedClusters" && action.value.clusters.map(({ weight }) => weight)).toEqual([90, 10]);
  });

  it("fetches everything of a type as a delta in the stream's shape", async () => {
    const client = createClient(SnapshotService, createGrpcTransport({ baseUrl: grpcUrl }));
    const typeUrl = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";
    const { resources } = await client.deltaFetch({ node, typeUrl });
    expect(resources.map(({ name }) => name)).toContain("outbound|9080|v1|catalog.bookshop.svc.cluster.local");
  });
});
