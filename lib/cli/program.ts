import type { Command } from "commander";
import { programOf, runCommands } from "./run-commands.ts";
import type { Register, Terminal } from "./terminal.ts";

/** The commands that one module registers. Loading takes most of a short command's time, so a command line loads the module it names. */
interface CommandModule {
  readonly names: readonly string[];
  load(): Promise<Register>;
}

/** In the order of the help. */
export const commandModules: readonly CommandModule[] = [
  { names: ["dev"], load: async () => (await import("./dev/dev.ts")).registerDev },
  { names: ["serve"], load: async () => (await import("./serve/serve.ts")).registerServe },
  { names: ["resolve"], load: async () => (await import("./resolve/resolve.ts")).registerResolve },
  { names: ["settings"], load: async () => (await import("./serve/settings.ts")).registerSettings },
  { names: ["collect"], load: async () => (await import("./collect/commands.ts")).registerCollect },
  { names: ["bootstrap"], load: async () => (await import("./proxy/bootstrap.ts")).registerBootstrap },
  { names: ["bootstrap-v1"], load: async () => (await import("./proxy/bootstrap-v1.ts")).registerBootstrapV1 },
  { names: ["agent"], load: async () => (await import("./proxy/agent.ts")).registerAgent },
  { names: ["intercept"], load: async () => (await import("./proxy/intercept.ts")).registerIntercept },
  { names: ["inject"], load: async () => (await import("./inject/inject.ts")).registerInject },
  { names: ["admission"], load: async () => (await import("./admission/admission.ts")).registerAdmission },
  { names: ["install"], load: async () => (await import("./install/install.ts")).registerInstall },
  { names: ["validate"], load: async () => (await import("./config/config-validate.ts")).registerValidate },
  { names: ["analyze"], load: async () => (await import("./config/config-analyze.ts")).registerAnalyze },
  { names: ["apply"], load: async () => (await import("./config/config-write.ts")).registerApply },
  { names: ["create"], load: async () => (await import("./config/config-write.ts")).registerCreate },
  { names: ["replace"], load: async () => (await import("./config/config-write.ts")).registerReplace },
  { names: ["get"], load: async () => (await import("./config/config-get.ts")).registerGet },
  { names: ["describe"], load: async () => (await import("./config/config-describe.ts")).registerDescribe },
  { names: ["delete"], load: async () => (await import("./config/config-delete.ts")).registerDelete },
  { names: ["history"], load: async () => (await import("./history.ts")).registerHistory },
  { names: ["push"], load: async () => (await import("./snapshots/push.ts")).registerPush },
  { names: ["recompile"], load: async () => (await import("./snapshots/recompile.ts")).registerRecompile },
  { names: ["diff"], load: async () => (await import("./snapshots/diff.ts")).registerDiff },
  { names: ["explain"], load: async () => (await import("./snapshots/explain.ts")).registerExplain },
  { names: ["impact"], load: async () => (await import("./snapshots/impact.ts")).registerImpact },
  {
    names: ["rollback", "unpin", "canary", "promote", "abort", "sign", "export", "import"],
    load: async () => (await import("./snapshots/move.ts")).registerMoves,
  },
  { names: ["status"], load: async () => (await import("./snapshots/status.ts")).registerStatus },
  {
    names: ["gc", "fsck", "recover"],
    load: async () => (await import("./snapshots/upkeep.ts")).registerUpkeep,
  },
  { names: ["replicate"], load: async () => (await import("./snapshots/replicate.ts")).registerReplicate },
  { names: ["doctor"], load: async () => (await import("./doctor/doctor.ts")).registerDoctor },
  { names: ["trace"], load: async () => (await import("./inspect/trace.ts")).registerTrace },
  { names: ["proxy-status"], load: async () => (await import("./inspect/proxy-status.ts")).registerProxyStatus },
  { names: ["proxy-config"], load: async () => (await import("./inspect/proxy-config.ts")).registerProxyConfig },
  { names: ["token"], load: async () => (await import("./secrets/token.ts")).registerToken },
  { names: ["keys"], load: async () => (await import("./secrets/keys.ts")).registerKeys },
  { names: ["secret"], load: async () => (await import("./secrets/secret.ts")).registerSecret },
  { names: ["ca"], load: async () => (await import("./secrets/ca.ts")).registerCa },
  { names: ["cost"], load: async () => (await import("./cost/cost.ts")).registerCost },
  { names: ["completion"], load: async () => (await import("./completion.ts")).registerCompletion },
];

const registered = (modules: readonly CommandModule[]) => Promise.all(modules.map(({ load }) => load()));

/** Every command, with its options. */
export const createProgram = async (terminal: Terminal): Promise<Command> =>
  programOf(await registered(commandModules), terminal);

/** All for the completion script, the help of the program and an unknown word, which say something about every command. */
function modulesFor(argv: readonly string[]): readonly CommandModule[] {
  const word = argv.slice(2).find((argument) => !argument.startsWith("-")) ?? "";
  const named = commandModules.filter(({ names }) => names.includes(word));
  return named.length === 0 || word === "completion" ? commandModules : named;
}

/**
 * Runs one command line.
 *
 * @param argv as `process.argv`
 * @returns the exit code; every failure has been told on the terminal
 */
export const runCli = async (argv: readonly string[], terminal: Terminal): Promise<number> =>
  runCommands(await registered(modulesFor(argv)), argv, terminal);
