import { EventEmitter, once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { keepFront } from "../../../lib/cli/serve/kept-front.ts";
import { askForSign, watchSigns } from "../../../lib/cli/serve/signs-of-life.ts";

describe("signs of life", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** A process that answers as long as it is told to. */
  function scene() {
    const state = { answers: true };
    const asked: unknown[] = [];
    const silent: number[] = [];
    const child = Object.assign(new EventEmitter(), {
      connected: true,
      send(message: unknown) {
        asked.push(message);
        if (state.answers) child.emit("message", "x");
        return true;
      },
    });
    const end = watchSigns(child, (ms) => silent.push(ms), 10);
    return { child, state, asked, silent, end };
  }

  it("are asked for from the first that comes, and one that gives none for three questions is silent, once", () => {
    const { child, state, asked, silent } = scene();
    vi.advanceTimersByTime(1_000);
    expect([asked, silent]).toEqual([[], []]);
    child.emit("message", "x");
    vi.advanceTimersByTime(100);
    expect(asked).toEqual(Array(10).fill(askForSign));
    state.answers = false;
    vi.advanceTimersByTime(39);
    expect(silent).toEqual([]);
    vi.advanceTimersByTime(1_000);
    expect(silent).toEqual([30]);
  });

  it.each([
    ["has answered again", ({ child }: ReturnType<typeof scene>) => child.emit("message", "x")],
    ["closes its channel", ({ child }: ReturnType<typeof scene>) => Object.assign(child, { connected: false })],
    ["has ended", ({ child }: ReturnType<typeof scene>) => child.emit("exit")],
    ["is no longer watched", ({ end }: ReturnType<typeof scene>) => end()],
  ])("are missed of none that %s", (_what, happen) => {
    const watched = scene();
    watched.child.emit("message", "x");
    watched.state.answers = false;
    vi.advanceTimersByTime(35);
    happen(watched);
    vi.advanceTimersByTime(25);
    expect(watched.silent).toEqual([]);
  });
});

describe("a front whose first process hangs", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "portolan-kept-front-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("is replaced", { timeout: 60_000 }, async () => {
    const port = await freePort();
    const lines: string[] = [];
    let hung: number | undefined;
    const say = (level: string) => (fields: object, text: string) => {
      lines.push(`${level} ${text} ${JSON.stringify(fields)}`);
    };
    const log = { info: say("info"), warn: say("warn"), error: say("error") };
    const env = { ...process.env, PORTOLAN_STORE: folder, PORT: String(port), PORTOLAN_WORKERS: "2" };
    const front = keepFront(env, log, 500);
    try {
      await front.listening;
      expect(await answers(port)).toBe(true);
      hung = front.pid();
      process.kill(hung ?? 0, "SIGSTOP");
      while (front.pid() === hung || !(await answers(port))) await sleep(100);
      // On a machine that is very busy there may be more.
      expect(lines[0]).toBe(
        `error the front does not respond and is stopped ${JSON.stringify({ pid: hung, silentMs: 1_500 })}`,
      );
      expect(lines[1]).toBe(`error the front has exited and is restarted ${JSON.stringify({ end: "SIGKILL" })}`);
    } finally {
      await front.close();
    }
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" && address !== null ? address.port : 0;
}

const answers = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(1_000) }).then(
    async (response) => (await response.text()).length > 0,
    () => false,
  );
