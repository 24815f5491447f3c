import type { Register } from "../terminal.ts";
import { registerCollectConsul } from "./collect-consul.ts";
import { registerCollectDir } from "./collect-dir.ts";
import { registerCollectKube } from "./collect-kube.ts";
import { registerCollectMcp } from "./collect-mcp.ts";

/** `portolan collect …`: an origin of input, mirrored into a source. */
export const registerCollect: Register = (program, terminal) => {
  const collect = program
    .command("collect")
    .description("Mirrors a cluster, a folder, Consul or an MCP server into a source, until it is stopped.");
  registerCollectKube(collect, terminal);
  registerCollectConsul(collect, terminal);
  registerCollectMcp(collect, terminal);
  registerCollectDir(collect, terminal);
};
