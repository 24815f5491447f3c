/** Servers that are asked the same in turns, in short rounds: whatever else runs on the machine comes to all of them alike. */
import type { Server } from "./front-servers.ts";
import { postOf, rawLoad } from "./raw-load.ts";
import { wrkLoad } from "./wrk-load.ts";
import { median } from "./yardstick.ts";

export const connections = 64;

/** Odd, so that there is one in the middle. */
const rounds = 7;

/** A server, what it is asked, and how often in a round. */
export interface Asked {
  readonly server: Server;
  readonly path: string;
  readonly body: string;
  readonly count: number;
}

/** Has a server asked the same again and again. */
export type Load = (
  asked: Asked,
  expected: number,
) => Promise<{ readonly requests: number; readonly perSecond: number }>;

export const bySockets: Load = async ({ server, path: asked, body, count }, expected) => {
  const { requestsPerSecond } = await rawLoad(server.url, postOf(asked, body), { connections, count, expected });
  return { requests: count, perSecond: requestsPerSecond };
};

/** For a second, the least that `wrk` knows. */
export const byWrk: Load = async ({ server, ...posted }) => {
  const { requests, requestsPerSecond } = wrkLoad(server.url, posted, connections, 1);
  return { requests, perSecond: requestsPerSecond };
};

/** What a server was measured at, round by round. */
export interface Turns {
  /** CPU time of the server a request, µs. */
  readonly cpuUs: readonly number[];
  readonly perSecond: readonly number[];
}

export async function inTurns(
  load: Load,
  asked: readonly Asked[],
  { expected, quick }: { readonly expected: number; readonly quick: boolean },
): Promise<ReadonlyMap<Server, Turns>> {
  const turns = new Map(
    asked.map(({ server }) => [server, { cpuUs: Array.of<number>(), perSecond: Array.of<number>() }]),
  );
  for (let round = 0; round <= (quick ? 1 : rounds); round += 1) {
    // Nobody always comes after the same neighbour.
    for (const one of round % 2 === 0 ? asked : asked.toReversed()) {
      const before = await one.server.cpuUs();
      const { requests, perSecond } = await load(one, expected);
      const cpuUs = ((await one.server.cpuUs()) - before) / requests;
      // The first round warms up.
      if (round === 0) continue;
      turns.get(one.server)?.cpuUs.push(cpuUs);
      turns.get(one.server)?.perSecond.push(perSecond);
    }
  }
  return turns;
}

/** How many times what another server took a server took, by the median of rounds that followed each other. */
export function timesOf(server: Turns | undefined, other: Turns | undefined): number {
  return median((server?.cpuUs ?? []).map((cpuUs, round) => cpuUs / (other?.cpuUs[round] ?? Number.NaN)));
}
