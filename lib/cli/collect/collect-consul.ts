import { InvalidArgumentError, Option } from "commander";
import { consulOrigin } from "../../registry/consul/origin.ts";
import type { ConsulHealth } from "../../registry/consul/snapshot.ts";
import { tlsFetch } from "../../registry/kubernetes/access/tls-fetch.ts";
import type { Origin } from "../../registry/origin/origin.ts";
import { examplesText } from "../examples.ts";
import { wholeNumber } from "../numbers.ts";
import type { Register } from "../terminal.ts";
import { addLiveOptions, type LiveOptions } from "./collect-options.ts";
import { runCollector } from "./run-collector.ts";
import { addTlsOptions, readTls, readToken, type TlsFlags } from "./tls-options.ts";

/** How Consul is asked. */
export interface ConsulFlags extends TlsFlags {
  readonly address: string;
  readonly datacenter?: readonly string[];
  readonly tokenFile?: string;
  readonly health: ConsulHealth;
  readonly timeout: number;
}

/** Seconds. */
const usualTimeout = 30;

/** `portolan collect consul`: the services of Consul's datacentres. */
export const registerCollectConsul: Register = (program, terminal) => {
  const command = program
    .command("consul")
    .description("Mirrors the services of Consul's datacentres.")
    .addOption(
      new Option("--address <url>", "address of a Consul agent or server")
        .env("CONSUL_HTTP_ADDR")
        .argParser(readConsulAddress)
        .default("http://127.0.0.1:8500"),
    )
    .option("--datacenter <names...>", "datacentres to read through it (default: its own)")
    .addOption(
      new Option(
        "--token-file <file>",
        "file with the ACL token, read again for each query (CONSUL_HTTP_TOKEN has the token itself)",
      ).env("CONSUL_HTTP_TOKEN_FILE"),
    )
    .addOption(
      new Option("--health <which>", "which instances to mirror: any, or only those whose checks pass")
        .choices(["any", "passing"])
        .default("any"),
    )
    .option("--timeout <seconds>", "timeout of a query that does not block", wholeNumber(1, 600), usualTimeout)
    .addHelpText(
      "after",
      examplesText([
        "collect consul --address http://127.0.0.1:8500 --store mesh-store",
        "collect consul --address https://consul.internal:8501 --ca ca.pem --token-file token --health passing --store s3://mesh/prod",
        "collect consul --datacenter dc1 dc2 --once --store mesh-store",
      ]),
    );
  addTlsOptions(command, { ca: "CONSUL_CACERT", certificate: "CONSUL_CLIENT_CERT", key: "CONSUL_CLIENT_KEY" });
  addLiveOptions(command, "consul").action(async (options: ConsulFlags & LiveOptions) => {
    const { address, datacenter = [] } = options;
    const what = `Consul at ${address}${datacenter.length === 0 ? "" : `, ${datacenter.join(", ")}`}`;
    await runCollector(await consulOriginFor(options), what, options, terminal);
  });
};

/** What counts where nothing but an address is given: the variables of Consul's own tools. */
export function defaultConsulFlags(): Omit<ConsulFlags, "address"> {
  const { CONSUL_HTTP_TOKEN_FILE, CONSUL_CACERT, CONSUL_CLIENT_CERT, CONSUL_CLIENT_KEY } = process.env;
  return {
    health: "any",
    timeout: usualTimeout,
    ...(CONSUL_HTTP_TOKEN_FILE === undefined ? {} : { tokenFile: CONSUL_HTTP_TOKEN_FILE }),
    ...(CONSUL_CACERT === undefined ? {} : { ca: CONSUL_CACERT }),
    ...(CONSUL_CLIENT_CERT === undefined ? {} : { certificate: CONSUL_CLIENT_CERT }),
    ...(CONSUL_CLIENT_KEY === undefined ? {} : { key: CONSUL_CLIENT_KEY }),
  };
}

/** @throws PortolanError for files that cannot be read */
export async function consulOriginFor(flags: ConsulFlags): Promise<Origin> {
  const { address, datacenter = [], health, timeout } = flags;
  // A mistake in the first place is reported before anything is asked.
  await readTls(flags);
  const token = tokenOf(flags);
  if (token !== undefined) await token();
  return consulOrigin(
    {
      fetch: tlsFetch(() => readTls(flags)),
      baseUrl: address,
      timeoutMs: timeout * 1000,
      ...(token === undefined ? {} : { token }),
    },
    datacenter,
    { health },
  );
}

function tokenOf({ tokenFile }: ConsulFlags): (() => Promise<string>) | undefined {
  if (tokenFile !== undefined) return () => readToken(tokenFile);
  const { CONSUL_HTTP_TOKEN: token = "" } = process.env;
  return token === "" ? undefined : async () => token;
}

/** Consul's own tools take an address without a scheme as well. */
export function readConsulAddress(text: string): string {
  const url = URL.parse(/^[a-z]+:\/\//.test(text) ? text : `http://${text}`);
  if (url === null || !/^https?:$/.test(url.protocol) || url.host === "" || url.username !== "" || url.search !== "") {
    throw new InvalidArgumentError("an address of Consul is http://host:port or https://host:port");
  }
  return url.href.replace(/\/$/, "");
}
