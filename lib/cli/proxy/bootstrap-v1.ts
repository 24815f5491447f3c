import { readFile } from "node:fs/promises";
import { InvalidArgumentError } from "commander";
import { fileTrouble } from "../../base/cause-text.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { bootstrapDocument, defaultBootstrapSettings } from "../../v1/bootstrap.ts";
import type { TlsServer } from "../../v1/bootstrap-tls.ts";
import { wholeNumber } from "../numbers.ts";
import { serverAt, serverUrl, systemRoots } from "../server-url.ts";
import type { Register } from "../terminal.ts";

interface Options {
  readonly server: string;
  readonly adminPort: number;
  readonly zipkin: string;
  readonly statsd: string;
  readonly loopbackPort: number;
  readonly ca: string;
  readonly certificate?: string;
  readonly key?: string;
  readonly tokenFile?: string;
}

/** The port that Istio 0.8's Pilot answers v1 discovery requests on: nothing else of that release listens on it beside a proxy. */
const usualLoopbackPort = 15_007;

/** `portolan bootstrap-v1`: what an Envoy that speaks the REST v1 API is started with; who it is, its own options say. */
export const registerBootstrapV1: Register = (program, terminal) => {
  program
    .command("bootstrap-v1")
    .description("Prints the start-up file of an Envoy that speaks the REST v1 API (up to Envoy 1.6), as JSON.")
    .option(
      "--server <url>",
      "URL of the front, which must serve the v1 API (`portolan dev --legacy-api`)",
      v1Url,
      "http://127.0.0.1:8080",
    )
    .option(
      "--admin-port <port>",
      "port of Envoy's admin interface",
      wholeNumber(0, 65_535),
      defaultBootstrapSettings.proxyAdminPort,
    )
    .option("--zipkin <host:port>", "address of the tracing collector", "")
    .option("--statsd <address:port>", "statsd address for statistics over UDP", "")
    .option(
      "--loopback-port <port>",
      "with https: port on 127.0.0.1 of the listener that forwards Envoy's requests to the front",
      wholeNumber(1, 65_535),
      usualLoopbackPort,
    )
    .option("--ca <file>", "with https: CA certificates that must have issued the front's certificate", systemRoots)
    .option("--certificate <file>", "with https: the proxy's own certificate; needs --key")
    .option("--key <file>", "with https: its key")
    .option("--token-file <path>", "with https: a token of `portolan token create --v1`; it is written into the output")
    .addHelpText(
      "after",
      "\nExamples:\n  portolan bootstrap-v1 > envoy.json\n" +
        "  portolan bootstrap-v1 --server https://portolan.example --token-file token > envoy.json\n" +
        "  envoy -c envoy.json --max-obj-name-len 189 --service-cluster istio-proxy \\\n" +
        "    --service-node sidecar~10.0.0.5~web-0.default~default.svc.cluster.local",
    )
    .action(async (options: Options) => {
      const document = bootstrapDocument({
        ...defaultBootstrapSettings,
        ...(await frontOf(options)),
        proxyAdminPort: options.adminPort,
        zipkinAddress: options.zipkin,
        statsdUdpAddress: options.statsd,
      });
      terminal.out(JSON.stringify(document, undefined, 2));
    });
};

/** @throws PortolanError for options that go with https alone, or without one another, and for a token that cannot be read */
async function frontOf(options: Options): Promise<{ readonly discoveryAddress: string; readonly tls?: TlsServer }> {
  const { server, ca, certificate, key, tokenFile, loopbackPort } = options;
  const { host, port, tls } = serverAt(server, { caFile: ca });
  const discoveryAddress = `${new URL(server).hostname}:${port}`;
  if (tls === undefined) {
    const needsTls = { "--certificate": certificate, "--key": key, "--token-file": tokenFile };
    const [wrong] = Object.entries(needsTls).find(([, value]) => value !== undefined) ?? [];
    if (wrong !== undefined) throw new PortolanError(`${wrong} needs --server with https`);
    return { discoveryAddress };
  }
  if ((certificate === undefined) !== (key === undefined))
    throw new PortolanError("--certificate and --key must be used together");
  const authorization = tokenFile === undefined ? undefined : `Bearer ${await readToken(tokenFile)}`;
  return {
    discoveryAddress,
    tls: { host, port, caFile: ca, certificateFile: certificate, keyFile: key, loopbackPort, authorization },
  };
}

/** Base64url with dots, as tokens are; Envoy would take a `%` in a header for a variable. */
const tokenForm = /^[\w.~+/=-]{1,8192}$/;

async function readToken(file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new PortolanError(`cannot read the token ${file}: ${fileTrouble(cause)}`, [], cause);
  });
  const token = text.trim();
  if (tokenForm.test(token)) return token;
  throw new PortolanError(`${file} holds no token: write what \`portolan token create --v1\` prints`);
}

/** A v1 Envoy compares DNS names and URIs of a certificate, and no addresses. @throws InvalidArgumentError, which is exit code 2 */
function v1Url(text: string): string {
  const { hostname, protocol } = new URL(serverUrl(text));
  if (protocol === "https:" && /^[\d.]+$|^\[/.test(hostname))
    throw new InvalidArgumentError(
      `a v1 Envoy checks no IP address in a certificate: write the front's DNS name instead of ${hostname}`,
    );
  return text;
}
