import type { Command } from "commander";
import { registerDiff } from "../../../lib/cli/snapshots/diff.ts";
import { registerExplain } from "../../../lib/cli/snapshots/explain.ts";
import { registerImpact } from "../../../lib/cli/snapshots/impact.ts";
import { registerMoves } from "../../../lib/cli/snapshots/move.ts";
import { registerPush } from "../../../lib/cli/snapshots/push.ts";
import { registerRecompile } from "../../../lib/cli/snapshots/recompile.ts";
import { registerReplicate } from "../../../lib/cli/snapshots/replicate.ts";
import { registerStatus } from "../../../lib/cli/snapshots/status.ts";
import { registerUpkeep } from "../../../lib/cli/snapshots/upkeep.ts";
import type { Terminal } from "../../../lib/cli/terminal.ts";

/** Every command about published snapshots. */
export function registerSnapshots(program: Command, terminal: Terminal): void {
  const commands = [
    ...[registerPush, registerRecompile, registerDiff, registerExplain, registerImpact],
    ...[registerMoves, registerStatus, registerUpkeep, registerReplicate],
  ];
  for (const register of commands) register(program, terminal);
}
