import type { Command } from "commander";
import type { Terminal } from "../terminal.ts";
import { registerDiff } from "./diff.ts";
import { registerExplain } from "./explain.ts";
import { registerImpact } from "./impact.ts";
import { registerMoves } from "./move.ts";
import { registerPush } from "./push.ts";
import { registerRecompile } from "./recompile.ts";
import { registerReplicate } from "./replicate.ts";
import { registerStatus } from "./status.ts";
import { registerUpkeep } from "./upkeep.ts";

/** Every command about published snapshots. */
export function registerSnapshots(program: Command, terminal: Terminal): void {
  const commands = [
    ...[registerPush, registerRecompile, registerDiff, registerExplain, registerImpact],
    ...[registerMoves, registerStatus, registerUpkeep, registerReplicate],
  ];
  for (const register of commands) register(program, terminal);
}
