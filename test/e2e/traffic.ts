import { Agent, request } from "node:http";
import { eventually } from "./envoy.ts";

export interface Traffic {
  /** How many answers came from whom since the start or the last `reset`; failures count under their reason. */
  counts(): ReadonlyMap<string, number>;
  reset(): void;
  stop(): Promise<void>;
}

/** Of each loop, between an answer and the next request: some hundred requests a second, beside which a change has cores to come on. */
const pauseMs = 8;

/** Sends requests through a listener all the time, a few side by side, over kept connections. */
export function startTraffic(
  port: number,
  host: string,
  path = "/",
  parallel = 4,
  headers: Readonly<Record<string, string>> = {},
): Traffic {
  const agent = new Agent({ keepAlive: true, maxSockets: parallel });
  let counts = new Map<string, number>();
  let running = true;
  const once = () =>
    new Promise<string>((resolve) => {
      const sent = request({ port, path, agent, headers: { host, ...headers } }, (response) => {
        let text = "";
        response.on("data", (data) => {
          text += data;
        });
        response.on("end", () =>
          resolve(response.statusCode === 200 ? text : `status ${response.statusCode}: ${text}`),
        );
        response.on("error", (error) => resolve(`failed: ${error.message}`));
      });
      sent.on("error", (error) => resolve(`failed: ${error.message}`));
      sent.end();
    });
  const loops = Array.from({ length: parallel }, async () => {
    while (running) {
      const answer = await once();
      counts.set(answer, (counts.get(answer) ?? 0) + 1);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  });
  return {
    counts: () => counts,
    reset: () => {
      counts = new Map();
    },
    async stop() {
      running = false;
      await Promise.all(loops);
      agent.destroy();
    },
  };
}

/** What was answered by nobody: every key that is not one of the names. */
export function failures(traffic: Traffic, names: readonly string[]): ReadonlyMap<string, number> {
  return new Map([...traffic.counts()].filter(([answer]) => !names.includes(answer)));
}

/**
 * Waits until a hundred answers in a row come from one server. Envoy reports a change as loaded before each of its threads uses it,
 * so requests under way may still be answered by another.
 */
export function movedTo(traffic: Traffic, name: string): Promise<readonly string[]> {
  const answering = async () => {
    traffic.reset();
    await eventually(
      async () => traffic.counts().get(name) ?? 0,
      (count) => count > 100,
    );
    return [...traffic.counts().keys()];
  };
  return eventually(answering, (names) => names.length === 1);
}
