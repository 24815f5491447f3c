import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { shopHost } from "./bookshop.ts";
import { startTraffic } from "./traffic.ts";

/** An answer of the gateway, as far as edits are read from it. */
export interface GatewayAnswer {
  readonly status: number;
  /** The header `x-edit`. */
  readonly edit: string | undefined;
  readonly text: string;
}

/** A kind of edit that is made again and again. Edits are numbered from 1. */
export interface RepeatedEdit {
  /** Saves the edit, and publishes it where no process watches the folder. Its end is the end of the push. */
  make(i: number): Promise<unknown>;
  /** The path of the gateway whose answers change with the edit. */
  path(i: number): string;
  /** Whether an answer comes from the configuration with the edit, from the one before, or is a failed request. */
  read(answer: GatewayAnswer, i: number): "in force" | "not yet" | "failed";
  /** Waits between an edit that is in force and the next one. */
  rest(i: number): Promise<unknown>;
}

export interface EditsUnderTraffic {
  /** In milliseconds from the start of each edit: to the end of its push, and to the first answer that shows it. */
  readonly edits: readonly { readonly pushedMs: number; readonly inForceMs: number }[];
  /** Failed requests, by what was answered. */
  readonly failures: ReadonlyMap<string, number>;
  readonly requests: number;
}

const patienceMs = 60_000;

/**
 * Makes edits one after the other, each when the one before is in force, with steady traffic on `/catalog`.
 *
 * @param port of the gateway
 * @throws when an edit is not in force after a minute
 */
export async function editUnderTraffic(port: number, count: number, edit: RepeatedEdit): Promise<EditsUnderTraffic> {
  const traffic = startTraffic(port, shopHost, "/catalog");
  const agent = new Agent({ keepAlive: true });
  const failures = new Map<string, number>();
  const fail = (what: string, times: number) => failures.set(what, (failures.get(what) ?? 0) + times);
  const edits: EditsUnderTraffic["edits"][number][] = [];
  let requests = 0;
  /** @returns when the first answer showed the edit */
  const untilInForce = async (i: number, startMs: number): Promise<number> => {
    for (;;) {
      const answer = await answerOf(port, edit.path(i), agent);
      requests += 1;
      const read = edit.read(answer, i);
      if (read === "in force") return performance.now();
      if (read === "failed") fail(`edited route: ${answer.status} ${answer.text}`, 1);
      if (performance.now() - startMs > patienceMs) throw new Error(`edit ${i} is not in force after 60 s`);
      await sleep(2);
    }
  };
  try {
    for (let i = 1; i <= count; i += 1) {
      const startMs = performance.now();
      // Both at once: a long poll may be answered before the push is.
      const [pushedAtMs, inForceAtMs] = await Promise.all([
        edit.make(i).then(() => performance.now()),
        untilInForce(i, startMs),
      ]);
      edits.push({ pushedMs: pushedAtMs - startMs, inForceMs: inForceAtMs - startMs });
      await edit.rest(i);
    }
  } finally {
    await traffic.stop();
    agent.destroy();
  }
  for (const [answer, times] of traffic.counts()) {
    requests += times;
    if (!answer.startsWith("catalog-")) fail(`traffic: ${answer}`, times);
  }
  return { edits, failures, requests };
}

/** An error of the connection is an answer with status 0. */
function answerOf(port: number, path: string, agent: Agent): Promise<GatewayAnswer> {
  return new Promise((resolve) => {
    const failed = (error: Error) => resolve({ status: 0, edit: undefined, text: error.message });
    const sent = request({ port, path, agent, headers: { host: shopHost } }, (response) => {
      let text = "";
      response.on("data", (data) => {
        text += data;
      });
      response.on("error", failed);
      response.on("end", () => {
        const { "x-edit": edit } = response.headers;
        resolve({ status: response.statusCode ?? 0, edit: typeof edit === "string" ? edit : undefined, text });
      });
    });
    sent.on("error", failed);
    sent.end();
  });
}
