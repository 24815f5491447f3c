import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { writeFrontConfig } from "./front-config.ts";

const entry = new URL("../../functions/front.worker.ts", import.meta.url).pathname;

/** The front's Worker with a count of what it is asked and what it asks of its bucket. */
const counting = `import front from ${JSON.stringify(entry)};
const counts = { requests: 0, reads: 0 };
let bucket;
export default {
  fetch(request, env, context) {
    if (new URL(request.url).pathname === "/counts") return Response.json(counts);
    counts.requests += 1;
    bucket ??= {
      get: (...asked) => ((counts.reads += 1), env.SNAPSHOTS.get(...asked)),
      put: (...asked) => env.SNAPSHOTS.put(...asked),
      list: (...asked) => env.SNAPSHOTS.list(...asked),
      delete: (...asked) => env.SNAPSHOTS.delete(...asked),
    };
    return front.fetch(request, { ...env, RATE_LIMIT: undefined, SNAPSHOTS: bucket }, context);
  },
};
`;

/** Writes the configuration of such a Worker into a folder. @returns its path */
export async function writeCountingFront(folder: string, name = "portolan-front"): Promise<string> {
  const main = join(folder, "counting.js");
  await writeFile(main, counting);
  return writeFrontConfig(folder, { main, name });
}

/** What a counting front was asked, and asked its bucket, since it was started. */
export interface FrontCounts {
  readonly requests: number;
  readonly reads: number;
}

/** @param ask the front, by a path */
export async function countsOf(ask: (path: string) => Promise<{ text(): Promise<string> }>): Promise<FrontCounts> {
  const { requests, reads }: FrontCounts = JSON.parse(await (await ask("/counts")).text());
  return { requests, reads };
}
