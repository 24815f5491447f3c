import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fieldsOf, listOf, textOf } from "../../lib/base/untyped.ts";
import { createCollector } from "../../lib/collect/collector.ts";
import { createLease } from "../../lib/collect/status/lease.ts";
import { createStatusWriter } from "../../lib/collect/status/status-writer.ts";
import { createRecompiler } from "../../lib/compile/recompile.ts";
import { statusesToWrite } from "../../lib/compile/statuses/newest-statuses.ts";
import type { ApiClient } from "../../lib/registry/kubernetes/api/client.ts";
import { kubernetesOrigin } from "../../lib/registry/kubernetes/api/kubernetes-origin.ts";
import { createResolver } from "../../lib/resolve/resolver.ts";
import { fileStore } from "../../lib/storage/files/files.ts";
import { eventually } from "../e2e/envoy.ts";
import { noDns } from "../resolve/name-server.ts";
import { type ApiServer, collectorToken, createObject, openApiServer } from "./api-server.ts";
import { startCollect } from "./collect-process.ts";
import { installIstioKinds } from "./custom-resources.ts";
import { manifests } from "./live-shop.ts";
import { hasApiServer } from "./server-binaries.ts";

const entries = "/apis/networking.istio.io/v1/namespaces/shop/serviceentries";
const entry = (name: string, hosts: readonly string[], labels = {}) => ({
  apiVersion: "networking.istio.io/v1",
  kind: "ServiceEntry",
  metadata: { name, namespace: "shop", labels },
  spec: {
    hosts,
    ports: [{ number: 80, name: "http", protocol: "HTTP" }],
    resolution: "DNS",
    location: "MESH_EXTERNAL",
  },
});
/** A proxy that captures DNS: without one no addresses are given. */
const client = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name: "client",
    namespace: "shop",
    labels: { "security.istio.io/tlsMode": "istio" },
    annotations: { "proxy.istio.io/config": "proxyMetadata: { ISTIO_META_DNS_CAPTURE: 'true' }" },
  },
  spec: { containers: [{ name: "app", image: "app" }] },
};
const running = { phase: "Running", podIP: "10.0.0.9", podIPs: [{ ip: "10.0.0.9" }] };

describe.skipIf(!hasApiServer())("addresses of ServiceEntries at a real API server", () => {
  let server: ApiServer;
  let folder: string;
  let store: ReturnType<typeof fileStore>;
  let once: () => Promise<void>;
  const writes: string[] = [];
  beforeAll(async () => {
    server = await openApiServer();
    await installIstioKinds(server);
    await server.ask("POST", "/api/v1/namespaces", { metadata: { name: "shop" } });
    for (const manifest of await manifests()) await createObject(server, manifest);
    await createObject(server, client);
    const path = "/api/v1/namespaces/shop/pods/client";
    await server.ask("PUT", `${path}/status`, { ...(await server.ask("GET", path)), status: running });
    await createObject(server, entry("db", ["db.example"]));
    await createObject(
      server,
      entry("own", ["own.example"], { "networking.istio.io/enable-autoallocate-ip": "false" }),
    );
    folder = await mkdtemp(join(tmpdir(), "portolan-addresses-"));
    store = fileStore(join(folder, "store"));
    // With the rights of infra/kubernetes alone.
    const token = await collectorToken(server);
    const account: ApiClient = {
      ...server.client,
      token: async () => token,
      fetch: (url, init) => {
        if (url.includes("/status?")) writes.push(`${init.method} ${new URL(url).pathname}`);
        return server.client.fetch(url, init);
      },
    };
    const recompile = createRecompiler({ store });
    const resolve = createResolver({
      store,
      fetch: () => Promise.reject(new Error("nothing is asked")),
      askDns: noDns,
      allowedHosts: new Set(),
      withinMs: 1_000,
      now: Date.now,
    });
    const lease = createLease({ client: account, namespace: "portolan", name: "portolan-status", holder: "test" });
    const read = (known: string | undefined) => statusesToWrite(store, "kubernetes", known);
    once = async () => {
      const origin = kubernetesOrigin(account, { cluster: "Kubernetes" });
      await createCollector({ store, source: "kubernetes", origin }).once();
      await recompile();
      if ((await resolve()).hasChanged) await recompile();
      await createStatusWriter({ client: account, lease, read }).once();
    };
  });
  afterAll(async () => {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });
  const addressesOf = async (name: string) => {
    const { status } = await server.ask("GET", `${entries}/${name}`);
    return listOf(fieldsOf(status).addresses).map(fieldsOf);
  };
  const valuesOf = async (name: string) => (await addressesOf(name)).map(({ value }) => textOf(value));

  it("are written once, as Istio's controller writes them, to the entries alone that are to have some", async () => {
    await once();
    expect(await addressesOf("db")).toEqual([
      { value: expect.stringMatching(/^240\.240\./), host: "db.example" },
      { value: expect.stringMatching(/^2001:2::/), host: "db.example" },
    ]);
    expect(await addressesOf("own")).toEqual([]);
    expect(writes.splice(0)).toEqual([`PATCH ${entries}/db/status`]);
    await once();
    expect(writes).toEqual([]);
  });

  it("are joined by those of a new host, and by nothing that another controller has given", async () => {
    const before = await addressesOf("db");
    const other = { value: "240.240.0.1", host: "more.example" };
    const hosts = ["db.example", "more.example", "new.example"];
    const type = "application/merge-patch+json";
    await server.ask("PATCH", `${entries}/db`, { spec: { hosts } }, type);
    await server.ask("PATCH", `${entries}/db/status`, { status: { addresses: [...before, other] } }, type);
    await once();
    const after = await addressesOf("db");
    expect(after.slice(0, 3)).toEqual([...before, other]);
    expect(after.slice(3).map(({ host }) => host)).toEqual(["new.example", "new.example"]);
  });

  it("go where their entry is to have none any more", async () => {
    writes.length = 0;
    const patch = { metadata: { labels: { "networking.istio.io/enable-autoallocate-ip": "false" } } };
    await server.ask("PATCH", `${entries}/db`, patch, "application/merge-patch+json");
    await once();
    expect(await valuesOf("db")).toEqual([]);
    expect(writes).toEqual([`PATCH ${entries}/db/status`]);
  });

  it("are written by `collect kube --write-status`", async () => {
    const patch = { metadata: { labels: { "networking.istio.io/enable-autoallocate-ip": null } } };
    await server.ask("PATCH", `${entries}/db`, patch, "application/merge-patch+json");
    const where = ["--kubeconfig", server.kubeconfig, "--store", join(folder, "store"), "--lease", "shop/writer"];
    const collect = startCollect(["kube", ...where, "--write-status"]);
    await collect.told("status written");
    await eventually(
      () => valuesOf("db"),
      (values) => values.length === 4,
      10_000,
    );
    await collect.stop();
  });
});
