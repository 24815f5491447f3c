import type { Command } from "commander";
import type { Terminal } from "../terminal.ts";
import { registerDiff } from "./diff.ts";
import { registerMoves } from "./move.ts";
import { registerPush } from "./push.ts";
import { registerStatus } from "./status.ts";
import { registerUpkeep } from "./upkeep.ts";

/** Every command about published snapshots. */
export function registerSnapshots(program: Command, terminal: Terminal): void {
  for (const register of [registerPush, registerDiff, registerMoves, registerStatus, registerUpkeep])
    register(program, terminal);
}
