/** The roots of the CA in the namespaces of a real API server, written as an account that may do that and nothing else. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { fieldsOf, textOf } from "../../lib/base/untyped.ts";
import { authorityStore } from "../../lib/ca/authority-store.ts";
import { makeSigner } from "../../lib/ca/make-signer.ts";
import { createRootCertWriter } from "../../lib/collect/root-cert/root-cert-writer.ts";
import { connectCluster } from "../../lib/registry/kubernetes/access/connect.ts";
import { type ApiClient, send } from "../../lib/registry/kubernetes/api/client.ts";
import { makeWrappingKey } from "../../lib/secrets/environment-key.ts";
import { wrappingKeys } from "../../lib/secrets/wrapping-keys.ts";
import { fileStore } from "../../lib/storage/files/files.ts";
import { type ApiServer, collectorToken, createObject, openApiServer } from "./api-server.ts";
import { startCollect } from "./collect-process.ts";
import { manifests } from "./live-shop.ts";
import { hasApiServer } from "./server-binaries.ts";

const name = "istio-ca-root-cert";
const dropped = ["Deployment", "NetworkPolicy"];

describe.skipIf(!hasApiServer())("collect kube --root-cert, on a real API server", () => {
  let server: ApiServer;
  let client: ApiClient;
  let folder: string;
  let kubeconfig: string;
  let ours: string;
  let next: string;
  let foreign: string;

  beforeAll(async () => {
    server = await openApiServer();
    for (const manifest of await manifests())
      if (!dropped.includes(textOf(manifest.kind))) await createObject(server, manifest);
    folder = await mkdtemp(join(tmpdir(), "portolan-root-cert-"));
    kubeconfig = join(folder, "kubeconfig");
    await writeFile(kubeconfig, await server.kubeconfigFor(server.url, await collectorToken(server)));
    client = (await connectCluster(undefined, kubeconfig)).client;
    const root = async () => (await makeSigner("cluster.local", Date.now())).certificate;
    [ours, next, foreign] = [await root(), await root(), await root()];
  });
  afterAll(async () => {
    await server?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const addNamespace = (namespace: string) =>
    server.ask("POST", "/api/v1/namespaces", { metadata: { name: namespace, finalizers: ["test/kept"] } });
  const mapPath = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps/${name}`;
  /** What another program has written. */
  const writeMap = (namespace: string, data: object) =>
    server.ask("POST", `/api/v1/namespaces/${namespace}/configmaps?fieldManager=pilot-discovery`, {
      metadata: { name },
      data,
    });
  async function dataIn(namespace: string): Promise<unknown> {
    const answer = await send(server.client, mapPath(namespace), {});
    return "failure" in answer ? answer.failure.status : fieldsOf(await answer.response.json()).data;
  }
  const writerOf = (roots: () => readonly string[], more: object = {}) => {
    const said = { wrote: 0, troubles: [] as string[] };
    const writer = createRootCertWriter({
      client,
      roots: async () => roots(),
      wrote: (count) => {
        said.wrote += count;
      },
      troubled: (reason) => said.troubles.push(reason),
      ...more,
    });
    return { writer, said };
  };

  it("writes into each namespace but those that end or that Istio leaves out, and once", async () => {
    await addNamespace("shop");
    await addNamespace("leaving");
    await server.ask("DELETE", "/api/v1/namespaces/leaving");
    const { writer, said } = writerOf(() => [ours]);
    await writer.once();
    expect(await dataIn("shop")).toEqual({ "root-cert.pem": ours });
    expect([await dataIn("kube-system"), await dataIn("leaving")]).toEqual([404, 404]);
    const { metadata } = await server.ask("GET", mapPath("shop"));
    expect(fieldsOf(metadata).labels).toEqual({ "istio.io/config": "true" });
    const { wrote } = said;
    expect(wrote).toBeGreaterThanOrEqual(3);
    await writer.once();
    await writerOf(() => [ours]).writer.once();
    expect(said.wrote).toBe(wrote);
  });

  it("gives a new namespace the roots while it runs, follows a rotation, and restores what was deleted", async () => {
    let roots = [ours];
    let nowMs = 0;
    const { writer, said } = writerOf(() => roots, { everyMs: 20, now: () => nowMs });
    const stop = new AbortController();
    const running = writer.run(stop.signal);
    await addNamespace("new");
    await expect.poll(() => dataIn("new")).toEqual({ "root-cert.pem": ours });
    roots = [ours, next];
    await expect.poll(() => dataIn("new")).toEqual({ "root-cert.pem": ours + next });
    roots = [next];
    await expect.poll(() => dataIn("new")).toEqual({ "root-cert.pem": next });
    await expect.poll(() => dataIn("shop")).toEqual({ "root-cert.pem": next });
    await server.ask("DELETE", mapPath("new"));
    nowMs += 61_000;
    await expect.poll(() => dataIn("new")).toEqual({ "root-cert.pem": next });
    roots = [ours];
    await expect.poll(() => dataIn("new")).toEqual({ "root-cert.pem": ours });
    stop.abort();
    await running;
    expect(said.troubles).toEqual([]);
  });

  it("takes istiod's ConfigMap over where it has the same root, and leaves what stands beside", async () => {
    await addNamespace("taken");
    await writeMap("taken", { "root-cert.pem": ours.trim(), "other.pem": "of another program" });
    await writerOf(() => [ours, next]).writer.once();
    expect(await dataIn("taken")).toEqual({ "root-cert.pem": ours + next, "other.pem": "of another program" });
  });

  it("leaves a root that it has not got to those who trust it, says where, and serves the others", async () => {
    await addNamespace("foreign");
    await writeMap("foreign", { "root-cert.pem": foreign });
    await addNamespace("well");
    const { writer } = writerOf(() => [ours]);
    await expect(writer.once()).rejects.toThrow("foreign: its istio-ca-root-cert has a root of another CA");
    expect(await dataIn("foreign")).toEqual({ "root-cert.pem": foreign });
    expect(await dataIn("well")).toEqual({ "root-cert.pem": ours });
    await server.ask("DELETE", mapPath("foreign"));
    await writer.once();
    expect(await dataIn("foreign")).toEqual({ "root-cert.pem": ours });
  });

  it("writes nothing while the CA cannot be read, or has no roots", async () => {
    const before = await dataIn("shop");
    await expect(writerOf(() => []).writer.once()).rejects.toThrow("the CA has no roots");
    const failing = writerOf(() => {
      throw new Error("the store does not answer");
    });
    await expect(failing.writer.once()).rejects.toThrow("the store does not answer");
    expect(await dataIn("shop")).toEqual(before);
  });

  it("needs the rights of root-cert.yaml, which are for that one name", async () => {
    const apply = (configMap: string, namespace = "shop") =>
      send(client, `/api/v1/namespaces/${namespace}/configmaps/${configMap}?fieldManager=x`, {
        method: "PATCH",
        contentType: "application/apply-patch+yaml",
        body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: configMap, namespace }, data: { a: "b" } },
      });
    const codeOf = async (method: "GET" | "POST" | "PUT" | "DELETE", path: string) => {
      const answer = await send(client, path, { method, ...(method.startsWith("P") ? { body: {} } : {}) });
      return "failure" in answer ? `${method} ${path} ${answer.failure.status}` : `${method} ${path} 200`;
    };
    const inShop = "/api/v1/namespaces/shop/configmaps";
    expect(await codeOf("GET", "/api/v1/configmaps")).toBe("GET /api/v1/configmaps 403");
    expect(await codeOf("GET", inShop)).toBe(`GET ${inShop} 403`);
    expect(await codeOf("DELETE", mapPath("shop"))).toBe(`DELETE ${mapPath("shop")} 403`);
    expect(await codeOf("PUT", mapPath("shop"))).toBe(`PUT ${mapPath("shop")} 403`);
    expect(await codeOf("POST", inShop)).toBe(`POST ${inShop} 403`);
    expect(await apply("other")).toMatchObject({ failure: { status: 403 } });
  });

  it("is an option of the command, which reads the CA of its store", async () => {
    const key = makeWrappingKey();
    vi.stubEnv("PORTOLAN_SECRETS_KEY", key);
    const store = join(folder, "store");
    const active = await makeSigner("cluster.local", Date.now());
    const authorities = authorityStore(fileStore(store), wrappingKeys(key, "KEY"));
    await authorities.write({ version: 1, trustDomain: "cluster.local", active }, undefined);
    await server.ask("DELETE", mapPath("shop"));
    const args = ["kube", "--kubeconfig", kubeconfig, "--store", store, "--no-compile", "--root-cert"];
    const collect = startCollect(args);
    await collect.told("root certificate written");
    expect(await dataIn("shop")).toEqual({ "root-cert.pem": active.certificate });
    await collect.stop();
    vi.unstubAllEnvs();
  });
});
