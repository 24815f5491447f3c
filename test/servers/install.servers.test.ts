/** `portolan install` against a real API server, with the rights that it gives. */
import { networkInterfaces } from "node:os";
import picocolors from "picocolors";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeAuthority } from "../../lib/admission/follow-authority.ts";
import { type Fields, fieldsOf, listOf, textOf } from "../../lib/base/untyped.ts";
import { authorityStore } from "../../lib/ca/authority-store.ts";
import { makeSigner } from "../../lib/ca/make-signer.ts";
import { runCli } from "../../lib/cli/program.ts";
import { startAdmission } from "../../lib/cli/serve/admission-server.ts";
import { createCollector } from "../../lib/collect/collector.ts";
import { createRootCertWriter } from "../../lib/collect/root-cert/root-cert-writer.ts";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
import { frontApp } from "../../lib/front/app.ts";
import { serveHttp } from "../../lib/front/node-server.ts";
import type { ApiClient } from "../../lib/registry/kubernetes/api/client.ts";
import { kubernetesOrigin } from "../../lib/registry/kubernetes/api/kubernetes-origin.ts";
import { makeWrappingKey } from "../../lib/secrets/environment-key.ts";
import { wrappingKeys } from "../../lib/secrets/wrapping-keys.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { publishedShop } from "../cli/doctor/deployments.ts";
import { freePort } from "../free-port.ts";
import { testFront } from "../front/fixtures.ts";
import { lacks } from "../skip.ts";
import { type ApiServer, createObject, openApiServer } from "./api-server.ts";
import { installPlainKinds } from "./custom-resources.ts";
import { podOf } from "./serve-base.ts";
import { hasApiServer } from "./server-binaries.ts";

const usual = ["--store", "s3://mesh/prod", "--env", "AWS_REGION=eu-central-1"];

const changed = ["created", "updated", "deleted"] as const;

describe.skipIf(!hasApiServer())("portolan install, on a real API server", { timeout: 120_000 }, () => {
  let server: ApiServer;
  const before = { KUBECONFIG: process.env.KUBECONFIG, PORTOLAN_SECRETS_KEY: process.env.PORTOLAN_SECRETS_KEY };
  beforeAll(async () => {
    server = await openApiServer();
    await installPlainKinds(server);
    Object.assign(process.env, { KUBECONFIG: server.kubeconfig, PORTOLAN_SECRETS_KEY: makeWrappingKey() });
  });
  afterAll(async () => {
    for (const [name, value] of Object.entries(before))
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    await server?.close();
  });

  /** Runs the command. @returns names of objects by what happened to them */
  async function install(...args: readonly string[]): Promise<Readonly<Record<string, readonly string[]>>> {
    const [out, err]: [string[], string[]] = [[], []];
    const terminal = {
      out: (line: string) => void out.push(line),
      err: (line: string) => void err.push(line),
      colours: picocolors.createColors(false),
    };
    const code = await runCli(["node", "portolan", "install", ...args, "--json"], terminal);
    if (code !== 0) throw new Error(err.join("\n"));
    const changes = listOf(fieldsOf(JSON.parse(out.join(""))).changes).map(fieldsOf);
    const by = Map.groupBy(changes, ({ action }) => textOf(action));
    const nameOf = ({ object }: Fields) => `${textOf(fieldsOf(object).kind)} ${textOf(fieldsOf(object).name)}`;
    return Object.fromEntries([...by].map(([action, some]) => [action, some.map(nameOf)]));
  }

  const read = (path: string) =>
    server.ask("GET", path).then(
      (object) => object,
      () => undefined,
    );
  const admissionregistration = "/apis/admissionregistration.k8s.io/v1";
  const validator = `${admissionregistration}/validatingwebhookconfigurations/portolan-validator`;
  const injector = `${admissionregistration}/mutatingwebhookconfigurations/portolan-sidecar-injector`;
  const istiod = "/api/v1/namespaces/istio-system/services/istiod";

  /** Checks of `portolan doctor`, with what came of each. */
  async function doctor(): Promise<Readonly<Record<string, string>>> {
    const lines: string[] = [];
    const terminal = {
      out: (line: string) => void lines.push(line),
      err() {},
      colours: picocolors.createColors(false),
    };
    await runCli(["node", "portolan", "doctor", "--cluster", "--json"], terminal);
    const checks = listOf(fieldsOf(JSON.parse(lines.join("\n"))).checks).map(fieldsOf);
    return Object.fromEntries(checks.map(({ check, status }) => [textOf(check), textOf(status)]));
  }

  /** The checks while a front of a store answers for the Service, at an address that an API server takes for one of a pod. */
  async function headBehind(store: ObjectStore): ReturnType<typeof doctor> {
    const { front } = testFront({ store });
    const running = await serveHttp(frontApp(front), 0, "0.0.0.0");
    const ports = [{ name: "http", port: Number(new URL(running.url).port) }];
    const deployment = await server.ask("GET", "/apis/apps/v1/namespaces/portolan/deployments/portolan-front");
    const pod = "/api/v1/namespaces/portolan/pods/portolan-front";
    await createObject(server, podOf(deployment));
    const status = { podIP: ownAddress, podIPs: [{ ip: ownAddress }] };
    await server.ask("PATCH", `${pod}/status`, { status }, "application/merge-patch+json");
    const targetRef = { kind: "Pod", namespace: "portolan", name: "portolan-front" };
    await server.ask("POST", "/api/v1/namespaces/portolan/endpoints", {
      metadata: { name: "portolan" },
      subsets: [{ addresses: [{ ip: ownAddress, targetRef }], ports }],
    });
    // API servers that are newer than the Endpoints above look here.
    const slices = "/apis/discovery.k8s.io/v1/namespaces/portolan/endpointslices";
    await server.ask("POST", slices, {
      metadata: { name: "portolan", labels: { "kubernetes.io/service-name": "portolan" } },
      addressType: "IPv4",
      endpoints: [{ addresses: [ownAddress], conditions: { ready: true }, targetRef }],
      ports,
    });
    try {
      return await doctor();
    } finally {
      await server.ask("DELETE", "/api/v1/namespaces/portolan/endpoints/portolan");
      await server.ask("DELETE", `${slices}/portolan`);
      await server.ask("DELETE", `${pod}?gracePeriodSeconds=0`);
      await running.close();
      front.close();
    }
  }

  /** Everything of the kinds that are installed, in our namespaces or with our names, with the versions that each write changes. */
  async function versions(): Promise<readonly string[]> {
    const rights = "/apis/rbac.authorization.k8s.io/v1";
    const paths = [
      ...["namespaces", "serviceaccounts", "configmaps", "secrets", "services"].map((kind) => `/api/v1/${kind}`),
      ...["clusterroles", "clusterrolebindings", "roles", "rolebindings"].map((kind) => `${rights}/${kind}`),
      "/apis/apps/v1/deployments",
      "/apis/networking.k8s.io/v1/networkpolicies",
      "/apis/policy/v1/poddisruptionbudgets",
      ...["validating", "mutating"].map((kind) => `${admissionregistration}/${kind}webhookconfigurations`),
    ];
    const lists = await Promise.all(paths.map((path) => server.ask("GET", path)));
    return lists
      .flatMap(({ items }, at) => listOf(items).map((one) => [paths[at], fieldsOf(fieldsOf(one).metadata)] as const))
      .map(([path, { namespace = "", name, resourceVersion }]) => `${path} ${namespace}/${name}@${resourceVersion}`)
      .filter((one) => /portolan|istio/.test(one));
  }

  /** A client with the rights of an account of the installation. */
  async function as(account: string): Promise<ApiClient> {
    const path = `/api/v1/namespaces/portolan/serviceaccounts/${account}/token`;
    const token = textOf(fieldsOf((await server.ask("POST", path, { spec: {} })).status).token);
    return { ...server.client, token: async () => token };
  }

  async function statusOf(client: ApiClient, method: string, path: string, body?: object): Promise<number> {
    const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const { status } = await client.fetch(server.url + path, {
      method,
      headers: { authorization: `Bearer ${await client.token?.(false)}`, "content-type": contentType },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return status;
  }

  it("writes nothing unless it is asked to", async () => {
    const at = await versions();
    const would = await install(...usual);
    expect(would.created).toContain("MutatingWebhookConfiguration portolan-sidecar-injector");
    expect(would.created).toContain("Secret portolan-front");
    expect(await versions()).toEqual(at);
    expect(await read("/api/v1/namespaces/portolan")).toBeUndefined();
  });

  it("takes no object of others, and writes nothing then", async () => {
    const foreign = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name: "portolan" } };
    await createObject(server, { ...foreign, rules: [] });
    await expect(install(...usual, "--apply")).rejects.toThrow(
      "1 object of others with names that are needed: ClusterRole portolan",
    );
    expect(await read("/api/v1/namespaces/portolan")).toBeUndefined();
    await server.ask("DELETE", "/apis/rbac.authorization.k8s.io/v1/clusterroles/portolan");
  });

  it("applies everything, and changes nothing the second time", async () => {
    const first = await install(...usual, "--tags", "prod", "--apply");
    expect(first.created).toEqual(expect.arrayContaining(["Deployment portolan-front", "Service istiod"]));
    expect(first.updated).toBeUndefined();
    const at = await versions();
    expect(at.length).toBeGreaterThan(30);
    const second = await install(...usual, "--tags", "prod", "--apply");
    for (const action of changed) expect(second[action]).toBeUndefined();
    expect(await versions()).toEqual(at);
    const { data } = fieldsOf(await read("/api/v1/namespaces/portolan/secrets/portolan-front"));
    const { issuers } = fieldsOf(JSON.parse(atob(textOf(fieldsOf(data)["authentication.json"]))));
    expect(issuers).toMatchObject([{ issuer: "https://kubernetes.default.svc", discovery: "cluster" }]);
  });

  it("gives the collector the rights that it needs, and no more", async () => {
    const client = await as("portolan");
    const origin = kubernetesOrigin(client, { cluster: "Kubernetes" });
    // Throws for a kind that may not be listed.
    await createCollector({ store: memoryStore(), source: "kubernetes", origin }).once();
    const refused: readonly (readonly [string, string])[] = [
      ["GET", "/api/v1/namespaces/portolan/secrets"],
      ["GET", "/api/v1/namespaces/kube-system/configmaps"],
      ["POST", "/api/v1/namespaces/portolan/configmaps"],
      ["DELETE", "/api/v1/namespaces/portolan/services/portolan"],
      ["PATCH", validator],
    ];
    for (const [method, path] of refused)
      expect([path, await statusOf(client, method, path, method === "GET" ? undefined : {})]).toEqual([path, 403]);
  });

  it("lets the webhooks write their own authorities, and nothing of others", async () => {
    const client = await as("portolan-admission");
    const lines: string[] = [];
    const tell = (_: object, text: string) => void lines.push(text);
    const webhooks = ["validating/portolan-validator", "mutating/portolan-sidecar-injector"];
    const follower = { client, webhooks, roots: async () => [authority], log: { info: tell, warn: tell, error: tell } };
    await writeAuthority(follower);
    await writeAuthority(follower);
    expect(lines).toHaveLength(2);
    for (const path of [validator, injector]) {
      const entries = listOf(fieldsOf(await read(path)).webhooks).map(fieldsOf);
      const bundles = entries.map(({ clientConfig }) => textOf(fieldsOf(clientConfig).caBundle));
      expect(new Set(bundles)).toEqual(new Set([btoa(authority)]));
    }
    await createRootCertWriter({ client, roots: async () => [authority] }).once();
    const other = `${admissionregistration}/validatingwebhookconfigurations/istio-validator-istio-system`;
    expect(await statusOf(client, "PATCH", other, {})).toBe(403);
    expect(await statusOf(client, "GET", "/api/v1/namespaces/portolan/secrets")).toBe(403);
    expect(await statusOf(client, "GET", "/api/v1/namespaces/default/configmaps")).toBe(403);
    // The next apply leaves the field as it is.
    for (const action of changed)
      expect((await install(...usual, "--tags", "prod", "--apply"))[action]).toBeUndefined();
  });

  it("is examined by `portolan doctor --cluster`", async () => {
    const port = await freePort();
    const store = memoryStore();
    const secretsKey = textOf(process.env.PORTOLAN_SECRETS_KEY);
    const active = await makeSigner("cluster.local", Date.now());
    const stored = authorityStore(store, wrappingKeys(secretsKey, "secretsKey"));
    await stored.write({ version: 1, trustDomain: "cluster.local", active }, undefined);
    const text = JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } });
    await writeShard(store, "main", [{ file: "namespaces.yaml", text }]);
    const webhooks = [
      "validating/portolan-validator",
      "mutating/portolan-sidecar-injector",
      "mutating/portolan-revision-tag-prod",
    ];
    const admission = { port, tlsNames: ["localhost"], rootCert: true, webhooks, injection: {} };

    // Nothing of a Service's network runs here: the API server calls the webhooks at an address. Their authority is the test's above.
    const atAddress = (webhook: unknown) => {
      const { clientConfig, ...rest } = fieldsOf(webhook);
      const { service, caBundle } = fieldsOf(clientConfig);
      const url = `https://localhost:${port}${textOf(fieldsOf(service).path)}`;
      return { ...rest, clientConfig: { url, caBundle } };
    };
    for (const path of [validator, injector]) {
      const found = fieldsOf(await read(path));
      await server.ask("PUT", path, { ...found, webhooks: listOf(found.webhooks).map(atAddress) });
    }
    // No controller runs that would make pods.
    await expect.poll(doctor).toMatchObject({
      objects: "passed",
      definitions: "passed",
      rollout: "failed",
      rights: "passed",
      portolan: "failed",
      authorities: "failed",
      validation: "failed",
      injection: "failed",
    });
    const running = await startAdmission({
      store,
      settings: { secretsKey, admission },
      log: pino({ level: "silent" }),
    });
    try {
      const works = { authorities: "passed", validation: "passed", injection: "passed" };
      await expect.poll(doctor, { timeout: 30_000, interval: 500 }).toMatchObject(works);
      const rootCert = "/api/v1/namespaces/default/configmaps/istio-ca-root-cert";
      await expect
        .poll(async () => fieldsOf(await read(rootCert)).data)
        .toMatchObject({
          "root-cert.pem": expect.stringContaining("BEGIN CERTIFICATE"),
        });
    } finally {
      await running.close();
    }
    if (!lacks(ownAddress !== undefined, "an address of this machine's other than loopback's")) {
      expect(await headBehind(store)).toMatchObject({ portolan: "passed", head: "failed" });
      expect(await headBehind(await publishedShop())).toMatchObject({ portolan: "passed", head: "passed" });
    }
    const istios = { name: "istio-sidecar-injector", labels: { app: "sidecar-injector", "istio.io/rev": "default" } };
    const injectors = `${admissionregistration}/mutatingwebhookconfigurations`;
    await server.ask("POST", injectors, { metadata: istios });
    expect(await doctor()).toMatchObject({ injection: "failed" });
    await server.ask("DELETE", `${injectors}/${istios.name}`);
    const rights = "/apis/rbac.authorization.k8s.io/v1/clusterroles/portolan";
    await server.ask("PATCH", rights, { rules: [] }, "application/merge-patch+json");
    expect(await doctor()).toMatchObject({ rights: "failed", validation: "failed" });
    for (const path of [validator, injector]) await server.ask("DELETE", path);
    expect((await install(...usual, "--tags", "prod", "--apply")).updated).toContain("ClusterRole portolan");
  });

  it("deletes what its options have no more, unless it is another's by now", async () => {
    const tag = `${admissionregistration}/mutatingwebhookconfigurations/portolan-revision-tag-prod`;
    expect(fieldsOf((await read(tag))?.metadata).labels).toMatchObject({ "istio.io/tag": "prod" });
    const taken = { metadata: { labels: { "portolan.dev/installation": "another" } } };
    await server.ask("PATCH", injector, taken, "application/merge-patch+json");
    const { deleted } = await install(...usual, "--without", "injection", "--apply");
    expect(deleted).toEqual(["MutatingWebhookConfiguration portolan-revision-tag-prod"]);
    expect(await read(tag)).toBeUndefined();
    expect(await read(injector)).toBeDefined();
    await server.ask("DELETE", injector);
  });

  it("uninstalls what it owns, and leaves the rest", async () => {
    const foreign = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "notes", namespace: "portolan" } };
    await createObject(server, foreign);
    const at = await versions();
    await install("--uninstall", "--dry-run");
    expect(await versions()).toEqual(at);
    const { deleted = [] } = await install("--uninstall");
    expect(deleted[0]).toBe("ValidatingWebhookConfiguration portolan-validator");
    const left = async (path: string) => listOf((await server.ask("GET", path)).items).length;
    expect(await left("/apis/apps/v1/deployments")).toBe(0);
    expect(await left("/apis/networking.k8s.io/v1/networkpolicies")).toBe(0);
    expect(await read(validator)).toBeUndefined();
    expect(await read("/apis/rbac.authorization.k8s.io/v1/clusterroles/portolan")).toBeUndefined();
    expect(await read("/api/v1/namespaces/portolan/configmaps/notes")).toBeDefined();
    expect(await read("/api/v1/namespaces/portolan/secrets/portolan-front")).toBeDefined();
    await expect(install("--uninstall")).rejects.toThrow("it has no inventory");
  });

  it("refuses an inventory of others, and takes away what a refused object has left half done", async () => {
    const inventory = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "portolan-inventory", namespace: "portolan" },
    };
    await createObject(server, inventory);
    await expect(install(...usual, "--apply")).rejects.toThrow("ConfigMap portolan/portolan-inventory");
    await server.ask("DELETE", "/api/v1/namespaces/portolan/configmaps/portolan-inventory");

    await expect(install(...usual, "--image", "", "--apply")).rejects.toThrow("Deployment portolan/portolan-front");
    expect(await read("/apis/rbac.authorization.k8s.io/v1/clusterroles/portolan")).toBeDefined();
    await install("--uninstall");
    expect(await read("/apis/rbac.authorization.k8s.io/v1/clusterroles/portolan")).toBeUndefined();
  });

  it("takes the Service istiod only when it is told to, and gives it back", async () => {
    const ports = [{ name: "https-dns", port: 15_012, targetPort: 15_012 }];
    const spec = { selector: { app: "istiod", istio: "pilot" }, ports };
    await createObject(server, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "istiod", namespace: "istio-system", labels: { app: "istiod" } },
      spec,
    });
    await expect(install(...usual, "--apply")).rejects.toThrow("--take-istiod");
    const canary = await install(...usual, "--revision", "canary", "--apply");
    expect(canary.created).toContain("Service istiod-canary");
    await install("--uninstall", "--revision", "canary");

    await install(...usual, "--take-istiod", "--apply");
    expect((await read(istiod))?.spec).toMatchObject({ externalName: "portolan.portolan.svc.cluster.local" });
    const again = await install(...usual, "--apply");
    for (const action of changed) expect(again[action]).toBeUndefined();
    await install("--uninstall");
    expect(await read(istiod)).toMatchObject({ metadata: { labels: { app: "istiod" } }, spec });
    expect(fieldsOf((await read(istiod))?.metadata).labels).toEqual({ app: "istiod" });
  });

  it("has Istio's Service select the front where both are in one namespace", async () => {
    await server.ask("DELETE", istiod);
    await install(...usual, "-n", "istio-system", "--apply");
    const selector = { "app.kubernetes.io/name": "portolan", "app.kubernetes.io/component": "front" };
    expect((await read(istiod))?.spec).toMatchObject({ type: "ClusterIP", selector });
    await install("--uninstall", "-n", "istio-system");
    expect(await read(istiod)).toBeUndefined();
  });
});

const ownAddress = Object.values(networkInterfaces())
  .flatMap((some) => some ?? [])
  .find(({ family, internal }) => family === "IPv4" && !internal)?.address;

/** Any text: the API server does not look into it. */
const authority = "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n";
