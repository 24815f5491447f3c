import type { Command } from "commander";
import { registerCollect } from "./collect/commands.ts";
import { registerCompletion } from "./completion.ts";
import { registerAnalyze } from "./config/config-analyze.ts";
import { registerDelete } from "./config/config-delete.ts";
import { registerDescribe } from "./config/config-describe.ts";
import { registerGet } from "./config/config-get.ts";
import { registerValidate } from "./config/config-validate.ts";
import { registerApply, registerCreate, registerReplace } from "./config/config-write.ts";
import { registerCost } from "./cost/cost.ts";
import { registerDev } from "./dev/dev.ts";
import { registerDoctor } from "./doctor/doctor.ts";
import { registerHistory } from "./history.ts";
import { registerProxyConfig } from "./inspect/proxy-config.ts";
import { registerProxyStatus } from "./inspect/proxy-status.ts";
import { registerTrace } from "./inspect/trace.ts";
import { registerAgent } from "./proxy/agent.ts";
import { registerBootstrap } from "./proxy/bootstrap.ts";
import { registerBootstrapV1 } from "./proxy/bootstrap-v1.ts";
import { registerIntercept } from "./proxy/intercept.ts";
import { programOf, runCommands } from "./run-commands.ts";
import { registerKeys } from "./secrets/keys.ts";
import { registerSecret } from "./secrets/secret.ts";
import { registerToken } from "./secrets/token.ts";
import { registerServe } from "./serve/serve.ts";
import { registerSettings } from "./serve/settings.ts";
import { registerSnapshots } from "./snapshots/commands.ts";
import type { Register, Terminal } from "./terminal.ts";

/** In the order of the help. */
const commands: readonly Register[] = [
  registerDev,
  registerServe,
  registerSettings,
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
  registerDoctor,
  registerTrace,
  registerProxyStatus,
  registerProxyConfig,
  registerToken,
  registerKeys,
  registerSecret,
  registerCost,
  registerCompletion,
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
