import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Fields, fieldsOf, textOf } from "../../lib/base/untyped.ts";
import { tlsFetch } from "../../lib/registry/kubernetes/access/tls-fetch.ts";
import type { ApiClient } from "../../lib/registry/kubernetes/api/client.ts";
import { eventually } from "../e2e/envoy.ts";
import { freePort } from "../free-port.ts";
import { kubernetesVersion, serverBinary } from "./server-binaries.ts";

/** A real API server on this machine, with an etcd of its own. Nothing else of a cluster runs: tests make slices and pods. */
export interface ApiServer {
  readonly url: string;
  /** A kubeconfig with one context, `test`. */
  readonly kubeconfig: string;
  /** The same for another address of the server, or as somebody else. */
  kubeconfigFor(url: string, bearer?: string): Promise<string>;
  /** Header of an administrator. */
  readonly authorization: string;
  readonly client: ApiClient;
  /** As an administrator. @throws for an answer that is no success, with what it says */
  ask(method: string, path: string, body?: object, contentType?: string): Promise<Record<string, unknown>>;
  /** Kills it, as a machine that goes away does. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Makes etcd forget every version but the newest. */
  compact(): Promise<void>;
  /** Ends it and its etcd, lays by what that holds, and starts both again. */
  backup(): Promise<void>;
  /** The same, with what was laid by in its place. */
  restore(): Promise<void>;
  close(): Promise<void>;
}

const token = "test-token";

/** @param more arguments of the server */
export async function openApiServer(more: readonly string[] = [], version = kubernetesVersion): Promise<ApiServer> {
  const folder = await mkdtemp(join(tmpdir(), "portolan-kube-"));
  const [etcdPort, peerPort, port] = [await freePort(), await freePort(), await freePort()];
  const etcdUrl = `http://127.0.0.1:${etcdPort}`;
  const peerUrl = `http://127.0.0.1:${peerPort}`;
  const url = `https://127.0.0.1:${port}`;
  await mkdir(join(folder, "certs"));
  await writeFile(join(folder, "tokens.csv"), `${token},admin,uid1,"system:masters"\n`);
  execFileSync("openssl", ["genrsa", "-out", join(folder, "sa.key"), "2048"], { stdio: "ignore" });
  let log = "";
  const run = (path: string | undefined, args: readonly string[]): ChildProcess => {
    if (path === undefined) throw new Error("npm run test:servers builds it");
    const child = spawn(path, args, { stdio: ["ignore", "ignore", "pipe"] });
    child.stderr?.on("data", (data) => {
      log = (log + data).slice(-20_000);
    });
    return child;
  };
  const end = async (child: ChildProcess, signal: "SIGKILL" | "SIGTERM") => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill(signal);
    await exit;
  };
  const [data, laidBy] = [join(folder, "etcd"), join(folder, "etcd-before")];
  const startEtcd = (): ChildProcess =>
    run(serverBinary("etcd-3.6.5"), [
      `--data-dir=${data}`,
      "--unsafe-no-fsync",
      "--log-level=error",
      `--listen-client-urls=${etcdUrl}`,
      `--advertise-client-urls=${etcdUrl}`,
      `--listen-peer-urls=${peerUrl}`,
      `--initial-advertise-peer-urls=${peerUrl}`,
      `--initial-cluster=default=${peerUrl}`,
    ]);
  let etcd = startEtcd();
  let server: ChildProcess | undefined;
  const authority = async () => readFile(join(folder, "certs", "apiserver.crt"), "utf8");
  const client: ApiClient = {
    baseUrl: url,
    token: async () => token,
    fetch: tlsFetch(async () => ({ authority: await authority() })),
  };
  const send = (method: string, path: string, body?: object, contentType = "application/json") =>
    client.fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": contentType },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const start = async (): Promise<void> => {
    server = run(serverBinary(`kube-apiserver-${version}`), [
      `--etcd-servers=${etcdUrl}`,
      "--bind-address=127.0.0.1",
      // From 1.37 on it refuses a loopback address here; nobody connects to this one.
      "--advertise-address=192.0.2.1",
      `--secure-port=${port}`,
      `--cert-dir=${join(folder, "certs")}`,
      `--token-auth-file=${join(folder, "tokens.csv")}`,
      "--authorization-mode=RBAC",
      "--anonymous-auth=false",
      "--service-account-issuer=https://kubernetes.default.svc",
      `--service-account-key-file=${join(folder, "sa.key")}`,
      `--service-account-signing-key-file=${join(folder, "sa.key")}`,
      "--service-cluster-ip-range=10.96.0.0/16",
      "--disable-admission-plugins=ServiceAccount",
      ...more,
    ]);
    const isReady = async () =>
      send("GET", "/readyz").then(
        (response) => response.text(),
        () => "",
      );
    await eventually(isReady, (text) => text === "ok", 90_000).catch((cause: unknown) => {
      throw new Error(`the API server was not ready: ${String(cause)}\n${log}`);
    });
  };
  await start();
  const betweenTwoLives = async (change: () => Promise<void>): Promise<void> => {
    if (server !== undefined) await end(server, "SIGKILL");
    await end(etcd, "SIGTERM");
    await change();
    etcd = startEtcd();
    await start();
  };
  const kubeconfigFor = async (address: string, bearer = token) =>
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      "current-context": "test",
      clusters: [{ name: "c", cluster: { server: address, "certificate-authority-data": btoa(await authority()) } }],
      users: [{ name: "u", user: { token: bearer } }],
      contexts: [{ name: "test", context: { cluster: "c", user: "u" } }],
    });
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, await kubeconfigFor(url));
  return {
    url,
    kubeconfig,
    kubeconfigFor,
    authorization: `Bearer ${token}`,
    client,
    async ask(method, path, body, contentType) {
      const response = await send(method, path, body, contentType);
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return JSON.parse(text);
    },
    async kill() {
      if (server !== undefined) await end(server, "SIGKILL");
    },
    start,
    async compact() {
      const post = async (path: string, body: object) =>
        (await fetch(etcdUrl + path, { method: "POST", body: JSON.stringify(body) })).json();
      const { revision } = fieldsOf(fieldsOf(await post("/v3/kv/range", { key: btoa("/none") })).header);
      await post("/v3/kv/compaction", { revision, physical: true });
    },
    backup: () => betweenTwoLives(() => cp(data, laidBy, { recursive: true })),
    restore: () =>
      betweenTwoLives(async () => {
        await rm(data, { recursive: true });
        await cp(laidBy, data, { recursive: true });
      }),
    async close() {
      if (server !== undefined) await end(server, "SIGTERM");
      await end(etcd, "SIGTERM");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A kind as it stands in the paths of an API server: `NetworkPolicy` is `networkpolicies`. */
const pluralOf = (kind: string): string => `${kind.toLowerCase()}s`.replace(/ys$/, "ies");

/** Creates an object where its own apiVersion, kind and namespace say. @param query of the request, with its `?` */
export function createObject(
  server: Pick<ApiServer, "ask">,
  manifest: Fields,
  query = "",
): ReturnType<ApiServer["ask"]> {
  const { apiVersion, kind, metadata } = manifest;
  const { namespace } = fieldsOf(metadata);
  const base = apiVersion === "v1" ? "/api/v1" : `/apis/${textOf(apiVersion)}`;
  const space = namespace === undefined ? "" : `/namespaces/${textOf(namespace)}`;
  return server.ask("POST", `${base}${space}/${pluralOf(textOf(kind))}${query}`, manifest);
}

/** A token of the account that infra/kubernetes gives its collector. */
export async function collectorToken(server: Pick<ApiServer, "ask">): Promise<string> {
  const account = "/api/v1/namespaces/portolan/serviceaccounts/portolan-collector";
  const { status } = await server.ask("POST", `${account}/token`, { spec: {} });
  return textOf(fieldsOf(status).token);
}
