import { InvalidArgumentError } from "commander";
import { keyText, PortolanError } from "../../base/diagnostic.ts";
import type { Commit } from "../../config-store/ledger/ledger.ts";
import type { Terminal } from "../terminal.ts";
import { configKindNamed } from "./config-kind.ts";
import { printTable } from "./config-print.ts";
import { openTarget, type TargetOptions, usualSource } from "./config-target.ts";
import { refuseUnknownSource } from "./known-source.ts";

/** Which writes to show. */
export interface WritesOptions extends Omit<TargetOptions, "source"> {
  /** Absent: the one that is written to where nobody names another. */
  readonly source?: string;
  readonly namespace: string;
  readonly limit: number;
  readonly diff?: string;
  readonly json?: boolean;
}

/**
 * The writes to a source's configuration, newest first, or what differs between two of them.
 *
 * @throws PortolanError for a source that the store does not have
 */
export async function showWrites(
  terminal: Terminal,
  type: string | undefined,
  name: string | undefined,
  options: WritesOptions,
): Promise<void> {
  const { source } = options;
  const { objects, isRemote, configs } = await openTarget({ ...options, source: source ?? usualSource });
  // A compile function refuses those that it does not take.
  if (source !== undefined && !isRemote) await refuseUnknownSource(objects, source);
  const { ledger } = configs;
  if (options.diff !== undefined) {
    const [, from, to] = (/^(\d+)\.\.(\d+)$/.exec(options.diff) ?? []).map(Number);
    if (from === undefined || to === undefined) throw new InvalidArgumentError("two revisions are written --diff 3..5");
    const commits = await ledger.history(Number.POSITIVE_INFINITY);
    const root = (revision: number) => rootOf(commits, revision);
    for (const { key, before, after } of await ledger.diff(root(from), root(to))) {
      const change = before === undefined ? "added" : after === undefined ? "deleted" : "changed";
      terminal.out(options.json === true ? JSON.stringify({ change, key }) : `${change} ${key}`);
    }
    return;
  }
  const key = type === undefined || name === undefined ? undefined : objectKey(type, name, options.namespace);
  const commits = (await ledger.history(options.limit)).filter((one) => key === undefined || one.keys.includes(key));
  if (options.json === true) {
    for (const { revision, timeMs, author, keys, message } of commits)
      terminal.out(JSON.stringify({ revision, at: new Date(timeMs).toISOString(), author, keys, message }));
  } else if (commits.length === 0) terminal.err(noWrites);
  else printCommits(commits, (rows) => printTable(terminal, rows));
}

export function printCommits(commits: readonly Commit[], print: (rows: readonly (readonly string[])[]) => void): void {
  print([
    ["REVISION", "TIME", "AUTHOR", "OBJECTS", "MESSAGE"],
    ...commits.map(({ revision, timeMs, author, keys, message }) => [
      String(revision),
      new Date(timeMs).toISOString(),
      author,
      String(keys.length),
      message,
    ]),
  ]);
}

function rootOf(commits: readonly Commit[], revision: number): string {
  if (revision === 0) return "";
  const commit = commits.find((one) => one.revision === revision);
  if (commit === undefined) throw new PortolanError(`the store has no revision ${revision}; write --diff 3..5`);
  return commit.root;
}

function objectKey(type: string, name: string, namespace: string): string {
  const { group, kind, clusterScoped } = configKindNamed(type);
  return keyText({ group, kind, name, namespace: clusterScoped ? "" : namespace });
}

const noWrites =
  "No writes found: `apply` and its like are listed here; `portolan history` alone lists what was published, of folders that are pushed, too.";
