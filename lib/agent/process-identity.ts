import { readFile } from "node:fs/promises";
import { codeOf } from "../base/cause-text.ts";

/** A process, told apart from a later one with the same number. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it was started, in the system's ticks; "" where the system does not say. */
  readonly started: string;
}

export const identityOf = async (pid: number): Promise<ProcessIdentity> => ({ pid, started: await startedOf(pid) });

/** Whether that very process runs; a zombie does not. */
export async function isAlive({ pid, started }: ProcessIdentity): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (cause) {
    // Somebody else's process is one, too.
    if (codeOf(cause) !== "EPERM") return false;
  }
  const now = await startedOf(pid);
  return now === started && now !== gone;
}

const gone = "gone";

/** @see https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html, fields 3 and 22 */
async function startedOf(pid: number): Promise<string> {
  if (process.platform !== "linux") return "";
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The name of the program stands in brackets, and may hold anything.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return text === "" || fields[0] === "Z" || fields[0] === "X" ? gone : (fields[19] ?? gone);
}

/** @returns undefined for anything else than an identity */
export function readIdentity(text: string): ProcessIdentity | undefined {
  try {
    const { pid, started }: { readonly pid?: unknown; readonly started?: unknown } = JSON.parse(text);
    // To `kill`, zero and negative numbers mean groups of processes.
    const isOne = typeof pid === "number" && Number.isSafeInteger(pid) && pid > 0;
    return isOne && typeof started === "string" ? { pid, started } : undefined;
  } catch {
    return undefined;
  }
}
