import { open, stat, truncate } from "node:fs/promises";

/**
 * What an Envoy writes, in a file: so that one that outlives its agent goes on writing, and the next agent reads on. The file is
 * emptied when it has grown long; its lines have been passed on by then.
 */
export interface EnvoyLog {
  /** Reads what is new and passes it on. */
  read(): Promise<void>;
  /** Why it ended, as far as its log says: the assertion that failed, else the last error; undefined for neither. */
  lastError(): string | undefined;
}

const maxBytes = 4 * 1024 * 1024;
const maxWords = 4_000;

const lineStart = /^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+\]\[\d+\]\[(\w+)\]\[(\w+)\] (?:\[[^\]]*\] )?(.*)$/;

/** Words of an assertion, which say more than the signal and the stack frames that follow them. */
const assertion = /assert failure|panic/i;

/**
 * @param path of the file; what stands in it at the beginning has been passed on
 * @param pass told of each line
 */
export async function envoyLog(path: string, pass: (line: string) => void): Promise<EnvoyLog> {
  let offset = await sizeOf(path);
  let rest = "";
  /** Of messages that may go on over several lines. */
  let message: { readonly level: string; readonly lines: string[] } | undefined;
  let error: string | undefined;
  /** Whether the lines that come are those of a stack. */
  let isTrace = false;
  let reading: Promise<void> = Promise.resolve();

  function keepError(text: string): void {
    if (error === undefined || !assertion.test(error) || assertion.test(text)) error = text.slice(0, maxWords);
  }

  function endMessage(): void {
    if (message === undefined) return;
    const { level, lines } = message;
    const text = lines.join("\n").trim().slice(0, maxWords);
    message = undefined;
    if (level === "error" || level === "critical") keepError(text);
  }

  function take(line: string): void {
    pass(line);
    const start = lineStart.exec(line);
    if (start !== null) {
      endMessage();
      const [, level = "", logger, text = ""] = start;
      // Addresses and frames of a stack tell people nothing.
      message = logger === "backtrace" ? undefined : { level, lines: [text] };
      isTrace = logger === "backtrace";
    } else if (message !== undefined && message.lines.length < 100) message.lines.push(line);
    else if (!isTrace && /error|exception|assert|caught/i.test(line)) keepError(line);
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
    lastError: () => error,
  };
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    return 0;
  }
}
