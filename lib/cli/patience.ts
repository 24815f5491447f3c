import { Worker } from "node:worker_threads";

/** Whoever waits longer wants to see that something happens. */
const quietMs = 1_000;

/** Then one more line for each of these. */
const againMs = 10_000;

/** Runs beside the program, since a compile leaves it no moment to speak. */
const speaker = `
const { workerData: { over, name, quietMs, againMs } } = require("node:worker_threads");
const { writeSync } = require("node:fs");
const begun = Date.now();
const lasts = (ms) => Atomics.wait(over, 0, 0, ms) === "timed-out";
if (lasts(quietMs)) {
  writeSync(2, name + " is under way …\\n");
  while (lasts(againMs)) writeSync(2, name + " is under way for " + Math.round((Date.now() - begun) / 1000) + " s …\\n");
}`;

/**
 * Says on standard error that a command is under way, when it has said nothing itself for a second; only to people: not into a
 * pipe, and not beside JSON.
 *
 * @param argv as `process.argv`
 * @returns what to call when the command says something, or is done; more than once does no harm
 */
export function patience(argv: readonly string[], isTerminal: boolean): () => void {
  const [command = "", ...options] = argv.slice(2);
  if (!isTerminal || command === "" || command.startsWith("-") || wantsJson(options)) return () => {};
  const over = new Int32Array(new SharedArrayBuffer(4));
  const workerData = { over, name: `portolan ${command}`, quietMs, againMs };
  new Worker(speaker, { eval: true, workerData, execArgv: [] }).unref();
  return () => {
    Atomics.store(over, 0, 1);
    Atomics.notify(over, 0);
  };
}

const wantsJson = (options: readonly string[]): boolean =>
  options.some(
    (option, at) =>
      /^(?:--json|-o=?json|--output=json)$/.test(option) ||
      (option === "json" && /^(?:-o|--output)$/.test(options[at - 1] ?? "")),
  );
