import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { promisify } from "node:util";
import { fileTrouble, isFileAbsent } from "../../../base/cause-text.ts";
import { PortolanError } from "../../../base/diagnostic.ts";
import type { ApiClient } from "../api/client.ts";
import { type ExecCredential, execInfo, readExecCredential } from "./exec-credential.ts";
import {
  accessOf,
  type ClusterAccess,
  type ExecCredentialPlugin,
  type KubeconfigFile,
  type Pem,
} from "./kubeconfig.ts";
import { tlsFetch } from "./tls-fetch.ts";

/** A client of a cluster, and who it is there. */
export interface ConnectedCluster {
  readonly client: ApiClient;
  /** Name of the context; `in-cluster` for a pod's own cluster. */
  readonly context: string;
  /** Namespace of the context, or of the pod. */
  readonly namespace: string;
}

/**
 * A client of the cluster that a context of kubectl's files means: `--kubeconfig`, else KUBECONFIG, else `~/.kube/config`.
 *
 * @param context the current one when absent; in a pod without any file its own cluster
 * @param kubeconfig files, separated as a PATH is; those that do not exist are passed over, as kubectl does
 * @throws PortolanError when there is no such context, or a file exists and cannot be read: the next file may name another cluster
 */
export async function connectCluster(context?: string, kubeconfig?: string): Promise<ConnectedCluster> {
  const named = kubeconfig ?? process.env.KUBECONFIG ?? "";
  const places =
    named === "" ? [join(homedir(), ".kube", "config")] : named.split(delimiter).filter((one) => one !== "");
  const found = (await Promise.all(places.map(readKubeconfigFile))).flat();
  if (found.length === 0) {
    if (context === undefined && kubeconfig === undefined && isInPod()) return connectOwnCluster();
    throw new PortolanError(`there is no kubeconfig at ${places.join(", ")}; name one with --kubeconfig or KUBECONFIG`);
  }
  const beside = (file: string, path: string) => (isAbsolute(path) ? path : join(dirname(file), path));
  const access = accessOf(found, context, beside);
  return { client: clientOf(access), context: access.context, namespace: access.namespace };
}

/** Nothing where the file does not exist. @throws PortolanError for any other reason that it cannot be read */
async function readKubeconfigFile(file: string): Promise<readonly KubeconfigFile[]> {
  try {
    return [{ file, text: await readFile(file, "utf8") }];
  } catch (cause) {
    if (isFileAbsent(cause)) return [];
    const hint = "make it readable, or remove it from KUBECONFIG or --kubeconfig";
    throw new PortolanError(`cannot read the kubeconfig ${file}: ${fileTrouble(cause)}; ${hint}`, [], cause);
  }
}

const isInPod = (): boolean => (process.env.KUBERNETES_SERVICE_HOST ?? "") !== "";

/** Where a pod finds its account. @see https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/ */
const accountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

/** A client of the cluster that this pod runs in, as its service account. @throws PortolanError where the account's files are missing */
async function connectOwnCluster(): Promise<ConnectedCluster> {
  const host = process.env.KUBERNETES_SERVICE_HOST ?? "";
  const port = process.env.KUBERNETES_SERVICE_PORT ?? "443";
  const namespace = await readText(join(accountFolder, "namespace"));
  const access: ClusterAccess = {
    context: "in-cluster",
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    namespace: namespace.trim(),
    authority: { kind: "file", file: join(accountFolder, "ca.crt") },
    isInsecure: false,
    certificate: undefined,
    key: undefined,
    credential: { kind: "token-file", file: join(accountFolder, "token") },
  };
  return { client: clientOf(access), context: access.context, namespace: access.namespace };
}

/** How long a token from a file is taken for the one that is there. */
const tokenMs = 60_000;

function clientOf(access: ClusterAccess): ApiClient {
  const { credential, server: baseUrl } = access;
  const plugin = credential.kind === "exec" ? pluginOf(credential.exec) : undefined;
  const fetch = tlsFetch(async () => {
    const { certificate, key } = (await plugin?.(false)) ?? {};
    const authority = await pemText(access.authority);
    const ownCertificate = certificate ?? (await pemText(access.certificate));
    const ownKey = key ?? (await pemText(access.key));
    return {
      ...(authority === undefined ? {} : { authority }),
      ...(ownCertificate === undefined || ownKey === undefined ? {} : { certificate: ownCertificate, key: ownKey }),
      ...(access.tlsServerName === undefined ? {} : { serverName: access.tlsServerName }),
      isInsecure: access.isInsecure,
    };
  });
  switch (credential.kind) {
    case "none":
      return { fetch, baseUrl };
    case "token":
      return { fetch, baseUrl, token: async () => credential.token };
    case "token-file":
      return { fetch, baseUrl, token: tokenFrom(credential.file) };
    case "basic": {
      const { username, password } = credential;
      const basic = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
      const withHeader: ApiClient["fetch"] = (url, init) =>
        fetch(url, { ...init, headers: { ...Object.fromEntries(new Headers(init.headers)), authorization: basic } });
      return { fetch: withHeader, baseUrl };
    }
    case "exec":
      return { fetch, baseUrl, token: async (isRefused) => (await plugin?.(isRefused))?.token ?? "" };
  }
}

function tokenFrom(file: string): NonNullable<ApiClient["token"]> {
  let known: { readonly token: string; readonly untilMs: number } | undefined;
  return async (isRefused) => {
    if (known === undefined || isRefused || performance.now() > known.untilMs)
      known = { token: (await readText(file)).trim(), untilMs: performance.now() + tokenMs };
    return known.token;
  };
}

const run = promisify(execFile);
/** Plugins may ask an identity provider. */
const pluginMs = 60_000;
/** A credential is asked for anew so long before its end. */
const marginMs = 10_000;

/**
 * Asks a plugin for credentials, and remembers them until they end.
 *
 * @param timeoutMs after which a plugin that has said nothing is ended, whatever it thinks of that
 */
export function pluginOf(
  { apiVersion, command, args, env, installHint }: ExecCredentialPlugin,
  timeoutMs: number = pluginMs,
) {
  let known: Promise<ExecCredential> | undefined;
  const ask = async (): Promise<ExecCredential> => {
    const environment = { ...process.env, ...env, KUBERNETES_EXEC_INFO: execInfo(apiVersion) };
    // One that holds out against SIGTERM would be waited for without end.
    const limits = { timeout: timeoutMs, killSignal: "SIGKILL" } as const;
    const { stdout } = await run(command, [...args], { env: environment, ...limits, encoding: "utf8" }).catch(
      (cause: unknown) => {
        const hint = installHint === "" ? "" : `; ${installHint}`;
        throw new PortolanError(`the credential plugin ${command} has failed${hint}`, [], cause);
      },
    );
    return readExecCredential(command, stdout);
  };
  return async (isRefused: boolean): Promise<ExecCredential> => {
    const before = await known?.catch(() => undefined);
    const isOld = before?.untilMs !== undefined && Date.now() > before.untilMs - marginMs;
    if (before === undefined || isRefused || isOld) known = ask();
    return known ?? ask();
  };
}

async function pemText(pem: Pem | undefined): Promise<string | undefined> {
  if (pem === undefined) return undefined;
  return pem.kind === "file" ? readText(pem.file) : Buffer.from(pem.base64, "base64").toString("utf8");
}

async function readText(file: string): Promise<string> {
  return readFile(file, "utf8").catch((cause: unknown) => {
    throw new PortolanError(`cannot read ${file}`, [], cause);
  });
}
