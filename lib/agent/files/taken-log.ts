import { open, readFile, truncate } from "node:fs/promises";
import { hashOf } from "../../base/blob.ts";
import { causeText, codeOf, fileTrouble, isFileAbsent } from "../../base/cause-text.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { type CoreType, coreTypes } from "../../snapshot/resource-type.ts";
import { replaceFile } from "./replace-file.ts";

/** JSON texts of resources by name, for each type. */
export type TakenTexts = Readonly<Record<CoreType, ReadonlyMap<string, string>>>;

/**
 * What Envoy has taken last, on disk: what a start without a control plane begins with. A log of changes that is written anew when it has
 * grown to twice what is in it. Each line says by a hash whether it is whole, and changes count from the line on that ends them.
 */
export interface TakenLog {
  readonly texts: TakenTexts;
  /** Writes what differs from what was written last. @throws PortolanError when it cannot; the next call writes all of it */
  keep(next: TakenTexts): Promise<void>;
}

/** What was found at the start. */
export interface OpenedLog {
  readonly log: TakenLog;
  /** How many lines were not whole: for each of these counts what was taken before. */
  readonly damaged: number;
}

/** Its name in the folder of an agent. */
export const takenName = "taken.log";

const hashLength = 16;
const end = "end";
const slackBytes = 1024 * 1024;
const mode = 0o600;

const nothing = (): Record<CoreType, Map<string, string>> => ({
  clusters: new Map(),
  endpoints: new Map(),
  listeners: new Map(),
  routes: new Map(),
});

/** One change as a line. @param text undefined for what is gone */
const lineOf = (type: CoreType, name: string, text = ""): string =>
  withHash(`${type} ${encodeURIComponent(name)} ${text}`);

const withHash = (body: string): string => `${hashOf(body).slice(0, hashLength)} ${body}\n`;

/** Opens the log at a path; there need be none. @throws PortolanError for one that is there and cannot be read */
export async function openTakenLog(path: string): Promise<OpenedLog> {
  const found = await readFile(path, "utf8").catch((cause: unknown) => {
    if (isFileAbsent(cause)) return undefined;
    const why = `cannot read ${path}: ${fileTrouble(cause)}`;
    throw new PortolanError(`${why}; make it readable, or delete it to start without what Envoy had`, [], cause);
  });
  const { texts, damaged } = readLog(found ?? "");
  let written: TakenTexts = texts;
  let bytes = Buffer.byteLength(found ?? "");
  let liveBytes = weightOf(written);
  /** Whether the log has to be written anew: something in it is not whole. */
  let isBroken = damaged > 0;
  return {
    damaged,
    log: {
      texts,
      async keep(next) {
        const lines = coreTypes.flatMap((type) => changesOf(type, written[type], next[type]));
        if (lines.length === 0 && !isBroken && bytes > 0) return;
        const text = lines.join("") + withHash(end);
        const isLong = bytes + Buffer.byteLength(text) > 2 * liveBytes + slackBytes;
        try {
          if (isBroken || isLong || bytes === 0) {
            const whole = wholeLog(next);
            await replaceFile(path, whole, mode);
            bytes = Buffer.byteLength(whole);
          } else {
            await append(path, text);
            bytes += Buffer.byteLength(text);
          }
        } catch (cause) {
          // Half a change takes room that the next one may want.
          isBroken = bytes === 0 || !(await isCutTo(path, bytes));
          const why = codeOf(cause) === "ENOSPC" ? "the disk is full" : causeText(cause);
          throw new PortolanError(
            `cannot write ${path}: ${why}; a restart begins with what Envoy had before`,
            [],
            cause,
          );
        }
        isBroken = false;
        written = next;
        liveBytes = weightOf(next);
      },
    },
  };
}

const wholeLog = (texts: TakenTexts): string =>
  coreTypes.flatMap((type) => [...texts[type]].map(([name, text]) => lineOf(type, name, text))).join("") +
  withHash(end);

function changesOf(
  type: CoreType,
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly string[] {
  if (before === after) return [];
  const changed = [...after].flatMap(([name, text]) => (before.get(name) === text ? [] : [lineOf(type, name, text)]));
  const gone = [...before.keys()].flatMap((name) => (after.has(name) ? [] : [lineOf(type, name)]));
  return [...changed, ...gone];
}

const weightOf = (texts: TakenTexts): number =>
  coreTypes.reduce((sum, type) => {
    for (const [name, text] of texts[type]) sum += hashLength + type.length + name.length + text.length;
    return sum;
  }, 0);

const isCutTo = (path: string, bytes: number): Promise<boolean> =>
  truncate(path, bytes).then(
    () => true,
    () => false,
  );

async function append(path: string, text: string): Promise<void> {
  const file = await open(path, "a", mode);
  try {
    await file.appendFile(text);
  } finally {
    await file.close();
  }
}

function readLog(content: string): { readonly texts: TakenTexts; readonly damaged: number } {
  const texts = nothing();
  let damaged = 0;
  let changes: { readonly type: CoreType; readonly name: string; readonly text: string }[] = [];
  const lines = content.split("\n");
  // What stands behind the last line's end is a line that was never finished.
  if (lines.pop() !== "") damaged += 1;
  for (const line of lines) {
    const body = line.slice(hashLength + 1);
    if (`${line}\n` !== withHash(body)) {
      damaged += 1;
    } else if (body === end) {
      for (const { type, name, text } of changes) {
        if (text === "") texts[type].delete(name);
        else texts[type].set(name, text);
      }
      changes = [];
    } else {
      const change = readChange(body);
      if (change === undefined) damaged += 1;
      else changes.push(change);
    }
  }
  return { texts, damaged: damaged + changes.length };
}

function readChange(body: string) {
  const [, kind = "", name = "", text = ""] = /^(\w+) (\S*) (.*)$/s.exec(body) ?? [];
  const type = coreTypes.find((one) => one === kind);
  return type === undefined ? undefined : { type, name: decodeURIComponent(name), text };
}
