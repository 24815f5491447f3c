import { open, stat, truncate } from "node:fs/promises";

/**
 * What an Envoy writes, in a file: so that one that outlives its agent goes on writing, and the next agent reads on. The file is
 * emptied when it has grown long; its lines have been passed on by then.
 */
export interface EnvoyLog {
  /** Reads what is new and passes it on. */
  read(): Promise<void>;
  /** Where refusals are counted from. */
  mark(): number;
  /** Refusals since a mark, in Envoy's words, in order. */
  refusalsSince(mark: number): readonly string[];
  /** The last lines that were errors, for whoever wants to know why it ended. */
  lastErrors(): readonly string[];
}

const maxBytes = 4 * 1024 * 1024;
const maxKept = 200;
const maxWords = 4_000;

const lineStart = /^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+\]\[\d+\]\[(\w+)\]\[\w+\] (?:\[[^\]]*\] )?(.*)$/;
const refusal = /^Filesystem config update (?:rejected|failure): (.*)$/s;

/**
 * @param path of the file; what stands in it at the beginning has been passed on
 * @param pass told of each line
 */
export async function envoyLog(path: string, pass: (line: string) => void): Promise<EnvoyLog> {
  let offset = await sizeOf(path);
  let rest = "";
  /** Of messages that may go on over several lines. */
  let message: { readonly level: string; readonly lines: string[] } | undefined;
  let counted = 0;
  const refusals: { readonly number: number; readonly words: string }[] = [];
  const errors: string[] = [];
  let reading: Promise<void> = Promise.resolve();

  function endMessage(): void {
    if (message === undefined) return;
    const { level, lines } = message;
    const text = lines.join("\n").trim().slice(0, maxWords);
    message = undefined;
    const words = refusal.exec(text)?.[1];
    if (words !== undefined) {
      counted += 1;
      refusals.push({ number: counted, words: words.replace(/goo\.gle\/debug\w*\s*/g, "").trim() });
      if (refusals.length > maxKept) refusals.shift();
    }
    if (level === "error" || level === "critical") {
      errors.push(text);
      if (errors.length > 10) errors.shift();
    }
  }

  function take(line: string): void {
    pass(line);
    const start = lineStart.exec(line);
    if (start !== null) {
      endMessage();
      message = { level: start[1] ?? "", lines: [start[2] ?? ""] };
    } else if (message !== undefined && message.lines.length < 100) message.lines.push(line);
    else if (/error|exception|assert|caught/i.test(line)) errors.push(line.slice(0, maxWords));
  }

  async function readNew(): Promise<void> {
    const size = await sizeOf(path);
    if (size < offset) offset = 0;
    if (size === offset) return endMessage();
    const file = await open(path, "r");
    try {
      const { buffer, bytesRead } = await file.read(
        Buffer.alloc(Math.min(size - offset, maxBytes)),
        0,
        undefined,
        offset,
      );
      offset += bytesRead;
      const lines = (rest + buffer.subarray(0, bytesRead).toString("utf8")).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) take(line);
      if (rest === "") endMessage();
    } finally {
      await file.close();
    }
    // It is opened to be appended to: what is written next stands at its beginning.
    if (offset > maxBytes && offset === (await sizeOf(path))) {
      await truncate(path).catch(() => {});
      offset = 0;
    }
  }

  return {
    read() {
      reading = reading.then(readNew, readNew).catch(() => {});
      return reading;
    },
    mark: () => counted,
    refusalsSince: (mark) => refusals.filter(({ number }) => number > mark).map(({ words }) => words),
    lastErrors: () => errors,
  };
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    return 0;
  }
}
