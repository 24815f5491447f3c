import { hostname } from "node:os";
import { InvalidArgumentError } from "commander";
import { PortolanError } from "../../base/diagnostic.ts";
import { connectSource } from "../../mcp/connect-source.ts";
import { type McpKind, mcpKinds } from "../../mcp/kinds.ts";
import { mcpOrigin } from "../../mcp/origin.ts";
import { readSourceAddress } from "../../mcp/source-address.ts";
import type { Origin } from "../../registry/origin/origin.ts";
import { examplesText } from "../examples.ts";
import { wholeNumber } from "../numbers.ts";
import type { Register, Terminal } from "../terminal.ts";
import { addLiveOptions, type LiveOptions } from "./collect-options.ts";
import { runCollector } from "./run-collector.ts";
import { addTlsOptions, readTls, readToken, type TlsFlags } from "./tls-options.ts";

/** How a source of MCP is asked. */
export interface McpFlags extends TlsFlags {
  readonly address: string;
  readonly kinds?: readonly string[];
  readonly tls?: boolean;
  readonly tokenFile?: string;
  /** False for `--no-incremental`. */
  readonly incremental: boolean;
  readonly settle: number;
  readonly node: string;
}

/** Seconds. */
const usualSettle = 3;

/** `portolan collect mcp`: a source of configuration. */
export const registerCollectMcp: Register = (program, terminal) => {
  const command = program
    .command("mcp")
    .description("Mirrors the configuration of an MCP server: MCP over xDS, or the older ResourceSource.")
    .requiredOption(
      "--address <where>",
      "xds://host:port for MCP over xDS; mcp://host:port or host:port for ResourceSource",
      sourceAddress,
    )
    .option("--kinds <names...>", "kinds to ask for (default: all that the protocol has)")
    .option("--tls", "TLS; --ca and --certificate imply it")
    .option("--token-file <file>", "file with the bearer token, read again for each stream")
    .option("--no-incremental", "request full state from ResourceSource, not increments")
    .option(
      "--settle <seconds>",
      "time without a response after which a new stream counts as complete",
      wholeNumber(0, 600),
      usualSettle,
    )
    .option("--node <id>", "node id of this client", defaultMcpFlags().node)
    .addHelpText(
      "after",
      examplesText([
        "collect mcp --address xds://nacos.internal:18848 --kinds ServiceEntry --source nacos --store mesh-store",
        "collect mcp --address mcp://127.0.0.1:9901 --once --store mesh-store",
        "collect mcp --address xds://istiod.internal:15012 --ca ca.pem --token-file token --store s3://mesh/prod",
      ]),
    );
  addTlsOptions(command);
  addLiveOptions(command, "mcp").action(async (options: McpFlags & LiveOptions) => {
    await runCollector(await mcpOriginFor(options, terminal), `MCP at ${options.address}`, options, terminal);
  });
};

/** What counts where nothing but an address is given. */
export const defaultMcpFlags = (): Omit<McpFlags, "address"> => ({
  incremental: true,
  settle: usualSettle,
  node: `portolan~${hostname()}`,
});

/** @throws PortolanError for kinds that there are not, and for files that cannot be read */
export async function mcpOriginFor(flags: McpFlags, terminal: Pick<Terminal, "err">): Promise<Origin> {
  const address = readSourceAddress(flags.address);
  if (address === undefined || !("authority" in address))
    throw new PortolanError(`${flags.address} is no source of MCP`);
  const { tokenFile } = flags;
  const tls = flags.tls === true || flags.ca !== undefined || flags.certificate !== undefined;
  const stream = connectSource({
    ...address,
    incremental: flags.incremental,
    ...(tls ? { tls: await readTls(flags) } : {}),
    ...(tokenFile === undefined ? {} : { token: () => readToken(tokenFile) }),
  });
  return mcpOrigin({
    stream,
    protocol: address.protocol,
    address: flags.address,
    kinds: kindsFor(address.protocol, flags.kinds),
    node: flags.node,
    settleMs: flags.settle * 1000,
    onWarning: (text) => terminal.err(`${flags.address}: ${text}`),
  });
}

function kindsFor(protocol: "resources" | "xds", names: readonly string[] | undefined): readonly McpKind[] {
  const known = protocol === "xds" ? mcpKinds : mcpKinds.filter(({ collections }) => collections.length > 0);
  if (names === undefined) return known;
  return [...new Set(names)].map((name) => {
    const found = known.find(({ kind }) => kind === name);
    if (found !== undefined) return found;
    const list = known.map(({ kind }) => kind).join(", ");
    throw new PortolanError(
      `${name} is no kind that ${protocol === "xds" ? "MCP over xDS" : "ResourceSource"} has; it has ${list}`,
    );
  });
}

/** An address of MCP, as it was written. @throws InvalidArgumentError, which is exit code 2 */
export function sourceAddress(text: string): string {
  const address = readSourceAddress(text);
  if (address === undefined)
    throw new InvalidArgumentError("a source is xds://host:port, mcp://host:port or host:port");
  if ("authority" in address) return text;
  const other = address.protocol === "folder" ? "collect dir" : "collect kube";
  throw new InvalidArgumentError(`\`portolan ${other}\` reads that`);
}
