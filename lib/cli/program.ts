import type { Command } from "commander";
import { registerAgent } from "./agent.ts";
import { registerBootstrap } from "./bootstrap.ts";
import { registerBootstrapV1 } from "./bootstrap-v1.ts";
import { registerCollect } from "./collect/commands.ts";
import { registerAnalyze } from "./config-analyze.ts";
import { registerDelete } from "./config-delete.ts";
import { registerDescribe } from "./config-describe.ts";
import { registerGet } from "./config-get.ts";
import { registerValidate } from "./config-validate.ts";
import { registerApply, registerCreate, registerReplace } from "./config-write.ts";
import { registerDev } from "./dev.ts";
import { registerHistory } from "./history.ts";
import { registerIntercept } from "./intercept.ts";
import { registerKeys } from "./keys.ts";
import { programOf, runCommands } from "./run-commands.ts";
import { registerSecret } from "./secret.ts";
import { registerSnapshots } from "./snapshots/commands.ts";
import type { Register, Terminal } from "./terminal.ts";
import { registerToken } from "./token.ts";

/** In the order of the help. */
const commands: readonly Register[] = [
  registerDev,
  registerCollect,
  registerBootstrap,
  registerBootstrapV1,
  registerAgent,
  registerIntercept,
  registerValidate,
  registerAnalyze,
  registerApply,
  registerCreate,
  registerReplace,
  registerGet,
  registerDescribe,
  registerDelete,
  registerHistory,
  registerSnapshots,
  registerToken,
  registerKeys,
  registerSecret,
];

/** Every command, with its options. */
export const createProgram = (terminal: Terminal): Command => programOf(commands, terminal);

/**
 * Runs one command line.
 *
 * @param argv as `process.argv`
 * @returns the exit code; every failure has been told on the terminal
 */
export const runCli = (argv: readonly string[], terminal: Terminal): Promise<number> =>
  runCommands(commands, argv, terminal);
