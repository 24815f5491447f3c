import type { IdentitySource } from "../../agent/identity/identity-files.ts";
import { identityOfServer } from "../../agent/identity/identity-of-server.ts";
import { runAgent } from "../../agent/run-agent.ts";
import { createFrontClient, type FrontAddress } from "../../agent/source/front-client.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { examplesText } from "../examples.ts";
import { textOfFile } from "../named-file.ts";
import { wholeNumber } from "../numbers.ts";
import { serverUrl } from "../server-url.ts";
import type { Register } from "../terminal.ts";

interface Options {
  readonly dir: string;
  readonly bootstrap: string;
  readonly server: string;
  readonly snapshot?: string;
  readonly trustedKeys?: string;
  readonly ca?: string;
  readonly tokenFile?: string;
  readonly certificate?: string;
  readonly key?: string;
  readonly roots?: string;
  readonly identityCommand?: string;
  readonly identityFromServer?: boolean;
  readonly validity: number;
  readonly envoy: string;
  readonly drain: number;
  readonly drainUntilIdle?: boolean;
  readonly maxRestarts?: number;
  readonly statusPort?: number;
  readonly statusHost?: string;
  readonly dnsPort?: number;
  readonly resolvConf: string;
  readonly once?: boolean;
  readonly json?: boolean;
}

/** `portolan agent`: beside an Envoy, as Istio's pilot-agent is. */
export const registerAgent: Register = (program, terminal) => {
  program
    .command("agent [envoy-args...]")
    .description("Runs an Envoy and serves it xDS over a local socket from a front (docs/agent.md).")
    .option("--bootstrap <file>", "the proxy's bootstrap, as `portolan bootstrap --json` writes it", "bootstrap.json")
    .option("--dir <folder>", "folder of the files of the agent and its Envoy", ".portolan/agent")
    .option("--server <url>", "URL of the front", serverUrl, "http://127.0.0.1:8080")
    .option("--snapshot <folder>", "serve this folder, written by `portolan export`, instead of a front")
    .option("--trusted-keys <file>", "public keys (JWKS); HEAD must be signed by one of them")
    .option("--ca <file>", "CA certificates that must have issued the front's certificate (default: the system's)")
    .option("--token-file <file>", "the proxy's token; read again whenever it changes")
    .option("--certificate <file>", "the workload's certificate for mutual TLS, in PEM; needs --key and --roots")
    .option("--key <file>", "its key")
    .option("--roots <file>", "root certificates that verify other workloads, PEM")
    .option(
      "--identity-command <command>",
      "command that prints certificate, key and roots as JSON, as Vault and SPIRE do",
    )
    .option("--identity-from-server", "the server's CA signs the workload's certificate; needs --token-file")
    .option(
      "--validity <seconds>",
      "validity of a certificate of the server's CA (default: the server's)",
      wholeNumber(0, 366 * 86_400),
      0,
    )
    .option("--envoy <program>", "the Envoy to run", process.env.ENVOY ?? "envoy")
    .option("--drain <seconds>", "drain time of connections at the end", wholeNumber(0, 3_600), 5)
    .option("--drain-until-idle", "at the end, wait until no connection is open")
    .option(
      "--max-restarts <count>",
      "exit after Envoy has exited this many times in a row (default: never)",
      wholeNumber(0),
    )
    .option("--status-port <port>", "port of readiness and metrics; 15020 in Istio", wholeNumber(0, 65_535))
    .option("--status-host <address>", "address of that port (default: all addresses)")
    .option(
      "--dns-port <port>",
      "port of the DNS proxy for host names of the mesh; 15053 in Istio",
      wholeNumber(0, 65_535),
    )
    .option("--resolv-conf <file>", "nameservers for other names", "/etc/resolv.conf")
    .option("--once", "write files for an Envoy without an agent, and exit")
    .option("--json", "each line of the log as JSON")
    .addHelpText(
      "after",
      examplesText([
        "bootstrap istio-ingressgateway-1.bookshop --json > bootstrap.json",
        "agent --bootstrap bootstrap.json --server http://127.0.0.1:8080",
        "agent --server https://portolan.example --token-file token -- --concurrency 2",
        "agent --certificate own.pem --key own-key.pem --roots roots.pem",
        "agent --identity-command 'vault write -format=json pki/issue/mesh uri_sans=spiffe://cluster.local/ns/shop/sa/cart'",
        "agent --server https://portolan.example --token-file token --identity-from-server",
        "agent --status-port 15020",
        "agent --dns-port 15053",
        "agent --snapshot carried --trusted-keys roots.json",
      ]),
    )
    .action(async (envoyArgs: readonly string[], options: Options) => {
      const { dir, bootstrap, server, snapshot, trustedKeys, ca, tokenFile } = options;
      const { envoy, drain, drainUntilIdle = false, maxRestarts, once = false, json = false } = options;
      const { statusPort, statusHost, dnsPort, resolvConf } = options;
      const write = (from: "agent" | "envoy", line: string) => {
        if (json) terminal.err(JSON.stringify({ time: new Date().toISOString(), from, line }));
        else terminal.err(from === "agent" ? `portolan agent: ${line}` : line);
      };
      const front = {
        url: server,
        ...(ca === undefined ? {} : { caFile: ca }),
        ...(tokenFile === undefined ? {} : { tokenFile }),
      };
      const code = await runAgent({
        dir,
        bootstrap,
        from: snapshot === undefined ? { front } : { snapshot },
        trustedKeys: trustedKeys === undefined ? undefined : await textOfFile(trustedKeys),
        holdMs: 25_000,
        once,
        identity: await identityOf(options, front),
        envoy,
        envoyArgs,
        drainMs: drain * 1_000,
        untilIdle: drainUntilIdle,
        maxRestarts,
        status: statusPort === undefined ? undefined : { port: statusPort, host: statusHost },
        dns: dnsPort === undefined ? undefined : { port: dnsPort, resolvConf },
        say: (line) => write("agent", line),
        onLine: (line) => write("envoy", line),
      });
      process.exitCode = code;
    });
};

async function identityOf(options: Options, front: FrontAddress): Promise<IdentitySource | undefined> {
  const { certificate, key, roots, identityCommand: command, identityFromServer: isServers = false } = options;
  const files = [certificate, key, roots].filter((file) => file !== undefined);
  if ([command !== undefined, isServers, files.length > 0].filter((isOne) => isOne).length > 1)
    throw new PortolanError("the workload's certificate comes from files, a command or the server: name one");
  if (isServers) return ofServer(options, front);
  if (command !== undefined) return { kind: "command", command };
  if (files.length === 0) return undefined;
  if (certificate === undefined || key === undefined || roots === undefined)
    throw new PortolanError("--certificate, --key and --roots must be used together");
  return { kind: "files", certificate, key, roots };
}

async function ofServer({ tokenFile, snapshot, validity }: Options, front: FrontAddress): Promise<IdentitySource> {
  if (tokenFile === undefined || snapshot !== undefined)
    throw new PortolanError(
      "--identity-from-server needs a server, not --snapshot, and --token-file with a token of the workload's service account",
    );
  // The X.509 library takes memory that an agent without this has no use for.
  const { makeCertificateRequest } = await import("../../ca/certificate-request.ts");
  const client = createFrontClient(front);
  return { kind: "server", ask: async () => identityOfServer(client, await makeCertificateRequest(), validity) };
}
