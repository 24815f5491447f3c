import type { Register } from "../terminal.ts";
import { registerCollectConsul } from "./collect-consul.ts";
import { registerCollectDir } from "./collect-dir.ts";
import { registerCollectKube } from "./collect-kube.ts";
import { registerCollectMcp } from "./collect-mcp.ts";

/** `portolan collect …`: an origin of input, mirrored into a source. */
export const registerCollect: Register = (program, terminal) => {
  const collect = program
    .command("collect")
    .description("Keeps a source as its origin is: a cluster or a folder, followed until this is stopped.");
  registerCollectKube(collect, terminal);
  registerCollectConsul(collect, terminal);
  registerCollectMcp(collect, terminal);
  registerCollectDir(collect, terminal);
};
