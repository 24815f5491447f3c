/** WorkloadEntries of machines in a real API server, written as an account that may do that and nothing else. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { fieldsOf, textOf } from "../../lib/base/untyped.ts";
import { createRegistrationWriter } from "../../lib/collect/registrations/registration-writer.ts";
import { createRegistrations } from "../../lib/front/registration/registrations.ts";
import { connectCluster } from "../../lib/registry/kubernetes/access/connect.ts";
import { type ApiClient, send } from "../../lib/registry/kubernetes/api/client.ts";
import { kubernetesOrigin } from "../../lib/registry/kubernetes/api/kubernetes-origin.ts";
import { registeredMs, registeredPrefix } from "../../lib/snapshot/nodes/registered.ts";
import { fileStore } from "../../lib/storage/files/files.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { HeldOrigin } from "../registry/kubernetes/held-origin.ts";
import { type ApiServer, collectorToken, createObject, openApiServer } from "./api-server.ts";
import { startCollect } from "./collect-process.ts";
import { installIstioKinds } from "./custom-resources.ts";
import { manifests } from "./live-shop.ts";
import { hasApiServer } from "./server-binaries.ts";

const api = "/apis/networking.istio.io/v1/namespaces/shop";
const entryPath = `${api}/workloadentries/legacy-10.2.0.1`;
const dropped = ["Deployment", "NetworkPolicy"];
const group = {
  apiVersion: "networking.istio.io/v1",
  kind: "WorkloadGroup",
  metadata: { name: "legacy", namespace: "shop" },
  spec: {
    metadata: { labels: { app: "legacy" }, annotations: { team: "billing" } },
    template: { serviceAccount: "vm", weight: 7, ports: { http: 8080 } },
    probe: { tcpSocket: { port: 8080 } },
  },
};

describe.skipIf(!hasApiServer())("collect kube --workload-entries, on a real API server", () => {
  let server: ApiServer;
  let client: ApiClient;
  let folder: string;
  let kubeconfig: string;

  beforeAll(async () => {
    server = await openApiServer();
    await installIstioKinds(server);
    for (const manifest of await manifests())
      if (!dropped.includes(textOf(manifest.kind))) await createObject(server, manifest);
    folder = await mkdtemp(join(tmpdir(), "portolan-registrations-"));
    kubeconfig = join(folder, "kubeconfig");
    await writeFile(kubeconfig, await server.kubeconfigFor(server.url, await collectorToken(server)));
    client = (await connectCluster(undefined, kubeconfig)).client;
    await server.ask("POST", "/api/v1/namespaces", { metadata: { name: "shop" } });
    await createObject(server, group);
  }, 120_000);
  afterAll(async () => {
    await server?.close();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(() => server.ask("DELETE", `${api}/workloadentries`));

  const found = async (path = entryPath) => {
    const answer = await send(server.client, path, {});
    return "failure" in answer ? answer.failure.status : fieldsOf(await answer.response.json());
  };
  const annotationsOf = (object: unknown) => fieldsOf(fieldsOf(fieldsOf(object).metadata).annotations);
  const versionOf = (object: unknown) => fieldsOf(fieldsOf(object).metadata).resourceVersion;

  /** A server that machines connect to. */
  const front = (store: ObjectStore, name: string, more: object = {}) => {
    const registrations = createRegistrations({
      store,
      server: name,
      trigger: () => {},
      graceMs: 30,
      settleMs: 1,
      onError: (cause) => expect.unreachable(String(cause)),
      ...more,
    });
    const connect = (serviceAccount = "vm") => {
      const caller = { kind: "node", subject: serviceAccount, namespace: "shop", serviceAccount } as const;
      const metadata = { NAMESPACE: "shop", AUTO_REGISTER_GROUP: "legacy" };
      const claims = { id: "sidecar~10.2.0.1~vm-1.shop~shop.svc.cluster.local", cluster: "", locality: "", metadata };
      return registrations.connected(caller, claims) ?? expect.unreachable("is not registered");
    };
    return { ...registrations, connect };
  };
  /** The records, once they say what is waited for. */
  const records = async (store: ObjectStore) => {
    const texts: string[] = [];
    for await (const { key } of store.list(registeredPrefix)) {
      const got = await store.get(key);
      if (got.kind === "found") texts.push(new TextDecoder().decode(got.bytes));
    }
    return texts.join("\n");
  };
  const writerOf = (store: ObjectStore, more: object = {}) => {
    const said = { wrote: 0 };
    const wrote = (count: number) => {
      said.wrote += count;
    };
    return { ...createRegistrationWriter({ client, store, wrote, ...more }), said };
  };

  it("writes what istiod writes: the group's template, who the machine is connected to and since when, its health", async () => {
    const store = memoryStore();
    const { connect, close } = front(store, "front-0_1", { now: () => Date.parse("2026-03-01T10:00:00Z") });
    const machine = connect();
    await expect.poll(() => records(store)).toContain("front-0_1");
    await writerOf(store).once();
    const { uid } = fieldsOf(fieldsOf(await found(`${api}/workloadgroups/legacy`)).metadata);
    expect(await found()).toMatchObject({
      metadata: {
        labels: { app: "legacy" },
        annotations: {
          team: "billing",
          "istio.io/autoRegistrationGroup": "legacy",
          "istio.io/workloadController": "portolan/front-0_1",
          "istio.io/connectedAt": "2026-03-01T10:00:00.000Z",
          "proxy.istio.io/health-checks-enabled": "true",
        },
        ownerReferences: [{ kind: "WorkloadGroup", name: "legacy", uid, controller: true }],
      },
      spec: { address: "10.2.0.1", serviceAccount: "vm", weight: 7, ports: { http: 8080 }, labels: { app: "legacy" } },
    });
    machine.health("connection refused");
    await expect.poll(() => records(store)).toContain("connection refused");
    const today = () => Date.parse("2026-03-01T10:00:07Z");
    await writerOf(store, { today }).once();
    const condition = { type: "Healthy", lastTransitionTime: "2026-03-01T10:00:07Z" };
    const unhealthy = { ...condition, status: "False", message: "connection refused" };
    expect(await found()).toMatchObject({ status: { conditions: [unhealthy] } });
    machine.health();
    await expect.poll(() => records(store)).toContain('"isHealthy":true');
    await writerOf(store, { today }).once();
    expect(fieldsOf(await found()).status).toEqual({
      conditions: [{ ...condition, status: "True", lastProbeTime: "2026-03-01T10:00:07Z" }],
    });
    close();
  });

  it("follows a machine that leaves, comes back and goes, and deletes nothing else", async () => {
    const store = memoryStore();
    const own = { ...group, kind: "WorkloadEntry", spec: { address: "10.2.0.9" }, metadata: { name: "own" } };
    await server.ask("POST", `${api}/workloadentries`, own);
    const { connect, close } = front(store, "a", { graceMs: 60_000 });
    const machine = connect();
    await expect.poll(() => records(store)).toContain("connectedAtMs");
    await writerOf(store).once();
    machine.ended();
    await expect.poll(() => records(store)).toContain("disconnectedAtMs");
    await writerOf(store).once();
    expect(Object.keys(annotationsOf(await found()))).toContain("istio.io/disconnectedAt");
    expect(annotationsOf(await found())).not.toHaveProperty(["istio.io/connectedAt"]);
    const again = connect();
    await expect.poll(() => records(store)).not.toContain("disconnectedAtMs");
    await writerOf(store).once();
    expect(annotationsOf(await found())).not.toHaveProperty(["istio.io/disconnectedAt"]);
    again.ended();
    close();
    const other = front(store, "b", { graceMs: 1 });
    other.connect().ended();
    await expect.poll(() => records(store)).toContain("isGone");
    other.close();
    await writerOf(store).once();
    expect(await found()).toBe(404);
    expect(await found(`${api}/workloadentries/own`)).toMatchObject({ spec: { address: "10.2.0.9" } });
  });

  it("is one object for two processes, and another server's after a restart", async () => {
    const store = memoryStore();
    const first = front(store, "a");
    first.connect();
    await expect.poll(() => records(store)).toContain('"a"');
    const [one, two] = [writerOf(store), writerOf(store)];
    await Promise.all([one.once(), two.once()]);
    const version = versionOf(await found());
    await Promise.all([one.once(), two.once(), writerOf(store).once()]);
    expect(versionOf(await found())).toBe(version);
    // The server is killed, and another one has the machine: nobody deletes what is in use.
    first.close();
    const second = front(store, "b");
    second.connect();
    await expect.poll(() => records(store)).toContain('"b"');
    await Promise.all([one.once(), two.once()]);
    await Promise.all([one.once(), two.once()]);
    expect(annotationsOf(await found())).toMatchObject({ "istio.io/workloadController": "portolan/b" });
    second.close();
  });

  it("deletes, after a restart, the entry of a machine whose server has gone for good", async () => {
    let aheadMs = 0;
    const today = () => Date.now() + aheadMs;
    const store = memoryStore(today);
    const { connect, close } = front(store, "a");
    connect();
    await expect.poll(() => records(store)).toContain('"a"');
    await writerOf(store, { today }).once();
    close();
    await writerOf(store, { today }).once();
    expect(await found()).toMatchObject({ kind: "WorkloadEntry" });
    aheadMs = registeredMs + 1;
    await writerOf(store, { today }).once();
    expect(await found()).toBe(404);
  });

  it("takes the entry over that an istiod has left, and leaves it to an istiod that got the machine later", async () => {
    const store = memoryStore();
    const annotations = {
      "istio.io/autoRegistrationGroup": "legacy",
      "istio.io/workloadController": "istiod-1",
      "istio.io/disconnectedAt": "2026-02-01T10:00:00Z",
    };
    const spec = { address: "10.2.0.1", serviceAccount: "vm" };
    const entry = { ...group, kind: "WorkloadEntry", metadata: { name: "legacy-10.2.0.1", annotations }, spec };
    await server.ask("POST", `${api}/workloadentries?fieldManager=pilot-discovery`, entry);
    const { connect, close } = front(store, "a");
    connect();
    await expect.poll(() => records(store)).toContain('"a"');
    await writerOf(store).once();
    expect(annotationsOf(await found())).toMatchObject({ "istio.io/workloadController": "portolan/a" });
    const later = {
      "istio.io/workloadController": "istiod-1",
      "istio.io/connectedAt": new Date(Date.now() + 60_000).toISOString(),
    };
    await server.ask("PATCH", entryPath, { metadata: { annotations: later } }, "application/merge-patch+json");
    await writerOf(store).once();
    expect(annotationsOf(await found())).toMatchObject(later);
    close();
  });

  it("writes none for another account than the group's, and none over what somebody else has made", async () => {
    const store = memoryStore();
    const { connect, close } = front(store, "a");
    connect("web");
    await expect.poll(() => records(store)).toContain('"web"');
    await writerOf(store).once();
    expect(await found()).toBe(404);
    const metadata = { name: "legacy-10.2.0.1" };
    await server.ask("POST", `${api}/workloadentries`, {
      ...group,
      kind: "WorkloadEntry",
      metadata,
      spec: { address: "10.2.0.1" },
    });
    connect();
    await expect.poll(() => records(store)).toContain('"vm"');
    await expect(writerOf(store).once()).rejects.toThrow("it is no entry of a machine of the WorkloadGroup legacy");
    expect(annotationsOf(await found())).toEqual({});
    close();
  });

  it("is not collected again, unless an istiod has it", async () => {
    const store = memoryStore();
    const { connect, close } = front(store, "a");
    connect();
    await expect.poll(() => records(store)).toContain('"a"');
    await writerOf(store).once();
    const collected = new HeldOrigin(kubernetesOrigin(client, { cluster: "Kubernetes" }));
    const entries = () => collected.keys("WorkloadEntry");
    await expect.poll(() => collected.isWhole(), { timeout: 60_000 }).toBe(true);
    expect(entries()).toEqual([]);
    const theirs = { "istio.io/workloadController": "istiod-1" };
    await server.ask("PATCH", entryPath, { metadata: { annotations: theirs } }, "application/merge-patch+json");
    await expect.poll(entries).toHaveLength(1);
    await collected.end();
    close();
  });

  it("is an option of the command, and needs no more than the rights of workload-entries.yaml", async () => {
    const place = join(folder, "store");
    const store = fileStore(place);
    const { connect, close } = front(store, "a");
    connect().health();
    await expect.poll(() => records(store)).toContain("isHealthy");
    const args = ["kube", "--kubeconfig", kubeconfig, "--store", place, "--no-compile", "--workload-entries"];
    const collect = startCollect(args);
    await collect.told("workload entries written");
    expect(await found()).toMatchObject({ status: { conditions: [{ status: "True" }] } });
    await collect.stop();
    close();
    const codeOf = async (method: "GET" | "PUT" | "PATCH", path: string, contentType?: string) => {
      const request = { method, ...(method === "GET" ? {} : { body: {} }), ...(contentType ? { contentType } : {}) };
      const answer = await send(client, path, request);
      return "failure" in answer ? answer.failure.status : 200;
    };
    expect(await codeOf("GET", entryPath)).toBe(403);
    const merge = "application/merge-patch+json";
    expect(await codeOf("PATCH", entryPath, merge)).toBe(403);
    expect(await codeOf("PATCH", `${api}/workloadgroups/legacy`, merge)).toBe(403);
    expect(await codeOf("PATCH", `${api}/virtualservices/web`, merge)).toBe(403);
  });
});
