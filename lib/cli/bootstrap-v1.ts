import { PortolanError } from "../config/diagnostic.ts";
import { bootstrapDocument, defaultBootstrapSettings } from "../v1/bootstrap.ts";
import { wholeNumber } from "./numbers.ts";
import type { Register } from "./terminal.ts";

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
    .option("--server <url>", "where the front answers; it needs --legacy-api", "http://127.0.0.1:8080")
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
        discoveryAddress: addressOf(server),
        proxyAdminPort: adminPort,
        zipkinAddress: zipkin,
        statsdUdpAddress: statsd,
      });
      terminal.out(JSON.stringify(document, undefined, 2));
    });
};

/** `host:port` of the front; that release's Envoys ask for documents in plain text only. */
function addressOf(server: string): string {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url?.protocol !== "http:")
    throw new PortolanError(`--server wants a URL such as http://127.0.0.1:8080, not ${server}`);
  return `${url.hostname}:${url.port || "80"}`;
}
