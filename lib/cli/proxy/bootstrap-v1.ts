import { InvalidArgumentError } from "commander";
import { bootstrapDocument, defaultBootstrapSettings } from "../../v1/bootstrap.ts";
import { wholeNumber } from "../numbers.ts";
import { serverUrl } from "../server-url.ts";
import type { Register } from "../terminal.ts";

interface Options {
  readonly server: string;
  readonly adminPort: number;
  readonly zipkin: string;
  readonly statsd: string;
}

/** `portolan bootstrap-v1`: what an Envoy that speaks the REST v1 API is started with; who it is, its own options say. */
export const registerBootstrapV1: Register = (program, terminal) => {
  program
    .command("bootstrap-v1")
    .description("Prints the start-up file of an Envoy that speaks the REST v1 API (up to Envoy 1.6), as JSON.")
    .option("--server <url>", "where the front answers; it needs --legacy-api", plainUrl, "http://127.0.0.1:8080")
    .option(
      "--admin-port <port>",
      "port of Envoy's admin interface",
      wholeNumber(0, 65_535),
      defaultBootstrapSettings.proxyAdminPort,
    )
    .option("--zipkin <host:port>", "trace to this collector", "")
    .option("--statsd <address:port>", "send statistics there by UDP", "")
    .addHelpText(
      "after",
      "\nExample:\n  portolan bootstrap-v1 > envoy.json\n" +
        "  envoy -c envoy.json --max-obj-name-len 189 --service-cluster istio-proxy \\\n" +
        "    --service-node sidecar~10.0.0.5~web-0.default~default.svc.cluster.local",
    )
    .action(({ server, adminPort, zipkin, statsd }: Options) => {
      const document = bootstrapDocument({
        ...defaultBootstrapSettings,
        discoveryAddress: addressOf(new URL(server)),
        proxyAdminPort: adminPort,
        zipkinAddress: zipkin,
        statsdUdpAddress: statsd,
      });
      terminal.out(JSON.stringify(document, undefined, 2));
    });
};

/** That release's Envoys ask for documents in plain text only. @throws InvalidArgumentError, which is exit code 2 */
function plainUrl(text: string): string {
  const url = serverUrl(text);
  if (new URL(url).protocol === "http:") return url;
  throw new InvalidArgumentError(`--server wants a URL such as http://127.0.0.1:8080, not ${text}`);
}

const addressOf = ({ hostname, port }: URL): string => `${hostname}:${port || "80"}`;
