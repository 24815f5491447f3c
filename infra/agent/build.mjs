// Bundles what the agent's container holds into dist/agent: the agent alone, which stays in memory, and the commands that come before it.

import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { buildAgent } from "../build.mjs";

const root = new URL("../..", import.meta.url).pathname;

await mkdir(join(root, "dist"), { recursive: true });
const folder = await buildAgent(join(root, "dist"));
await cp(join(root, "infra/agent/agent.sh"), join(folder, "agent.sh"));
console.log(folder);
