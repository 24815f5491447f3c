import { z } from "zod";
import { PortolanError } from "../../../base/diagnostic.ts";
import { readDocument } from "../../../config/documents/parse.ts";

/** How a client proves who it is. */
export type Credential =
  | { readonly kind: "none" }
  | { readonly kind: "token"; readonly token: string }
  /** Read again when the server refuses it, and from time to time: it rotates. */
  | { readonly kind: "token-file"; readonly file: string }
  | { readonly kind: "basic"; readonly username: string; readonly password: string }
  | { readonly kind: "exec"; readonly exec: ExecCredentialPlugin };

/** A program that prints an ExecCredential. @see https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins */
export interface ExecCredentialPlugin {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly installHint: string;
}

/** What a kubeconfig holds in itself, or says which file holds. */
export type Pem = { readonly kind: "data"; readonly base64: string } | { readonly kind: "file"; readonly file: string };

/** All that it takes to talk to one cluster. */
export interface ClusterAccess {
  /** Name of the context. */
  readonly context: string;
  /** Without final slash. */
  readonly server: string;
  /** Namespace of the context; "default" where it names none. */
  readonly namespace: string;
  readonly authority: Pem | undefined;
  /** Name that the server's certificate is checked for; absent: its address. */
  readonly tlsServerName?: string;
  readonly isInsecure: boolean;
  readonly certificate: Pem | undefined;
  readonly key: Pem | undefined;
  readonly credential: Credential;
}

const text = z.string().default("");
const execSchema = z.looseObject({
  apiVersion: z.string(),
  command: z.string().min(1),
  args: z.array(z.string()).nullish(),
  env: z.array(z.looseObject({ name: z.string(), value: z.string() })).nullish(),
  installHint: z.string().nullish(),
});
const named = <T extends z.ZodType>(field: string, schema: T) =>
  z.array(z.looseObject({ name: z.string(), [field]: schema }));

const clusterSchema = z.looseObject({
  server: z.url(),
  "certificate-authority": text,
  "certificate-authority-data": text,
  "insecure-skip-tls-verify": z.boolean().default(false),
  "tls-server-name": text,
});
const userSchema = z.looseObject({
  "client-certificate": text,
  "client-certificate-data": text,
  "client-key": text,
  "client-key-data": text,
  token: text,
  tokenFile: text,
  username: text,
  password: text,
  exec: execSchema.optional(),
  "auth-provider": z.unknown().optional(),
});
const contextSchema = z.looseObject({ cluster: z.string(), user: text, namespace: text });

const schema = z.looseObject({
  "current-context": text,
  clusters: named("cluster", z.unknown()).nullish(),
  contexts: named("context", z.unknown()).nullish(),
  users: named("user", z.unknown()).nullish(),
});

/** A kubeconfig as one file says it. */
export interface KubeconfigFile {
  readonly file: string;
  readonly text: string;
}

/** A context was named that no kubeconfig has. */
export class NoSuchContext extends PortolanError {}

/**
 * The access that a context means, of several files as kubectl merges them: of one name the first counts, and of the current
 * context the first that is set.
 *
 * @param context the current one when absent
 * @param beside makes a path of one that stands in a file: relative to that file
 * @throws PortolanError when a file is no kubeconfig; NoSuchContext
 */
export function accessOf(
  files: readonly KubeconfigFile[],
  context: string | undefined,
  beside: (file: string, path: string) => string,
): ClusterAccess {
  const read = files.map(({ file, text: written }) => ({ file, config: readKubeconfig(file, written) }));
  const wanted = context ?? read.map(({ config }) => config["current-context"]).find((name) => name !== "");
  const where = files.map(({ file }) => file).join(", ");
  if (wanted === undefined) throw new PortolanError(`${where} has no current context: name one`);
  const entry = (list: "clusters" | "contexts" | "users", field: string, name: string) => {
    for (const { file, config } of read) {
      const found = config[list]?.find((one) => one.name === name);
      if (found !== undefined) return { file, value: found[field] };
    }
    return undefined;
  };
  const found = entry("contexts", "context", wanted);
  if (found === undefined) {
    const known = read.flatMap(({ config }) => (config.contexts ?? []).map(({ name }) => name));
    throw new NoSuchContext(`${where} has no context ${wanted}; there are: ${known.join(", ") || "none"}`);
  }
  const { cluster: clusterName, user: userName, namespace } = checked(contextSchema, found.value, found.file, wanted);
  const cluster = entry("clusters", "cluster", clusterName);
  if (cluster === undefined)
    throw new PortolanError(`context ${wanted} names the cluster ${clusterName}, which ${where} does not have`);
  const user = entry("users", "user", userName) ?? { file: found.file, value: {} };
  const server = checked(clusterSchema, cluster.value, cluster.file, clusterName);
  const who = checked(userSchema, user.value, user.file, userName);
  const pem = (file: string, base64: string, path: string): Pem | undefined => {
    if (base64 !== "") return { kind: "data", base64 };
    return path === "" ? undefined : { kind: "file", file: beside(file, path) };
  };
  const tlsServerName = server["tls-server-name"];
  return {
    context: wanted,
    server: server.server.replace(/(?<!\/)\/+$/, ""),
    namespace: namespace === "" ? "default" : namespace,
    authority: pem(cluster.file, server["certificate-authority-data"], server["certificate-authority"]),
    ...(tlsServerName === "" ? {} : { tlsServerName }),
    isInsecure: server["insecure-skip-tls-verify"],
    certificate: pem(user.file, who["client-certificate-data"], who["client-certificate"]),
    key: pem(user.file, who["client-key-data"], who["client-key"]),
    credential: credentialOf(who, userName, (path) => beside(user.file, path)),
  };
}

function credentialOf(
  { token, tokenFile, username, password, exec, "auth-provider": provider }: z.infer<typeof userSchema>,
  user: string,
  beside: (path: string) => string,
): Credential {
  // In the order in which client-go looks.
  if (tokenFile !== "") return { kind: "token-file", file: beside(tokenFile) };
  if (token !== "") return { kind: "token", token };
  if (username !== "") return { kind: "basic", username, password };
  if (exec !== undefined) {
    const { apiVersion, command, args, env, installHint } = exec;
    // A command with a slash lies beside the file; one without is looked for where programs are.
    const program = command.includes("/") ? beside(command) : command;
    return {
      kind: "exec",
      exec: {
        apiVersion,
        command: program,
        args: args ?? [],
        env: Object.fromEntries((env ?? []).map(({ name, value }) => [name, value])),
        installHint: installHint ?? "",
      },
    };
  }
  if (provider !== undefined)
    throw new PortolanError(
      `user ${user} is authenticated by an auth-provider, which Kubernetes 1.26 has removed: use exec`,
    );
  return { kind: "none" };
}

function readKubeconfig(file: string, written: string): z.infer<typeof schema> {
  const reading = readDocument({ text: written, line: 1 });
  if (reading.kind !== "value") {
    const why = reading.kind === "unreadable" ? `line ${reading.line}: ${reading.message}` : "it is several documents";
    throw new PortolanError(`${file} is no kubeconfig: ${why}`);
  }
  return checked(schema, reading.value ?? {}, file, "the file");
}

/** @throws PortolanError that says where something else stands, and never what: it may be a secret */
function checked<T extends z.ZodType>(wanted: T, value: unknown, file: string, what: string): z.infer<T> {
  const read = wanted.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new PortolanError(`${file} is no kubeconfig: ${what} ${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}`);
}
