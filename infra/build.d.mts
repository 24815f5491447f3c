/** Bundles the Lambda functions, each into a folder of its own below `outdir`. */
export function buildFunctions(
  outdir: string,
): Promise<{ readonly front: string; readonly compile: string; readonly slice: string; readonly garbage: string }>;

/** Bundles the collector; `index.mjs` of the folder takes the arguments of `portolan`. */
export function buildCollector(outdir: string): Promise<string>;

/** Arguments of Node with which the agent stays small. */
export const agentFlags: readonly string[];

/** Bundles the agent, and the commands that a pod runs before it: `agent/index.mjs` and `commands/index.mjs` of the folder. */
export function buildAgent(outdir: string): Promise<string>;
