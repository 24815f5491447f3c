import type { Register } from "../terminal.ts";
import { registerCollectDir } from "./collect-dir.ts";
import { registerCollectKube } from "./collect-kube.ts";

/** `portolan collect …`: an origin of input, mirrored into a source. */
export const registerCollect: Register = (program, terminal) => {
  const collect = program
    .command("collect")
    .description("Keeps a source as its origin is: a cluster or a folder, followed until this is stopped.");
  registerCollectKube(collect, terminal);
  registerCollectDir(collect, terminal);
};
