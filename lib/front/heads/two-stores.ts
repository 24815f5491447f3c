import { headKey } from "../../base/blob.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { parseHead } from "../../snapshot/head/head.ts";
import { needSigned, type Trust } from "../../snapshot/head/signatures.ts";
import { settledWithin } from "../../snapshot/worlds/load-cache.ts";
import type { GetResult, ObjectStore } from "../../storage/object-store.ts";

/** How long one of two stores may take while the other has an answer. */
const patienceMs = 1_500;

/** How long the first store is asked second after it gave nothing, if the copy gives something. */
const avoidMs = 10_000;

/** HEAD as a store last gave it. */
interface SeenHead {
  readonly generation: number;
  readonly result: Extract<GetResult, { kind: "found" }>;
}

/**
 * A store and its copy in another region, as one for a front to read: HEAD is the newer of both and never older than it was, everything
 * else comes from the first that has it. A copy lags, so what it has counts only when it is no older than what was read, or when it has
 * taken over (`takeOver`), which lifts its generation above all that the lost store may have had.
 *
 * A HEAD that is signed by nobody who is trusted counts as an answer that did not come, however new it says it is.
 *
 * What the front writes goes to the first store alone. There is no `watch`: a store that is gone calls nobody.
 */
export function twoStores(
  first: ObjectStore,
  copy: ObjectStore,
  { trusted }: Pick<Trust, "trusted"> = {},
): ObjectStore {
  const stores = [first, copy];
  const seen: (SeenHead | undefined)[] = [];
  let newest: SeenHead | undefined;
  let avoidedUntilMs = 0;

  async function look(store: ObjectStore, i: number): Promise<SeenHead | undefined> {
    const known = seen[i];
    const result = await store.get(headKey, known === undefined ? {} : { ifNoneMatch: known.result.etag });
    if (result.kind === "found") {
      const { generation } = await needSigned(trusted, parseHead(result.bytes));
      seen[i] = { generation, result };
    }
    return result.kind === "absent" ? undefined : seen[i];
  }

  async function head(ifNoneMatch: string | undefined): Promise<GetResult> {
    const looks = stores.map(look);
    const answers = await Promise.all(looks.map((one) => inTime(one)));
    avoidedUntilMs = answers[0] === undefined ? performance.now() + avoidMs : 0;
    // Of equals the first store's: its clock is the one that HEAD's steps go by.
    const found = answers.reduce(
      (best, one) => (one !== undefined && one.generation > (best?.generation ?? 0) ? one : best),
      undefined,
    );
    if (found === undefined) {
      // What both say has its own words: nothing was published, or why nothing can be read.
      const [observed] = await Promise.all(looks);
      return observed === undefined ? { kind: "absent" } : observed.result;
    }
    if (newest !== undefined && found.generation < newest.generation)
      throw new PortolanError(
        `the store that answers is at generation ${found.generation}, and ${newest.generation} was served: ` +
          "it is followed when it has caught up, or has taken over (`portolan recover --take-over`)",
      );
    if (newest === undefined || found.generation > newest.generation) newest = found;
    const { etag } = newest.result;
    return etag === ifNoneMatch ? { kind: "unchanged" } : newest.result;
  }

  return {
    async get(key, condition = {}) {
      if (key === headKey) return head(condition.ifNoneMatch);
      const isAvoided = performance.now() < avoidedUntilMs;
      const [one, other] = isAvoided ? [copy, first] : [first, copy];
      const asked = one.get(key, condition);
      const given = await inTime(asked);
      if (given === undefined) avoidedUntilMs = isAvoided ? 0 : performance.now() + avoidMs;
      if (given !== undefined && given.kind !== "absent") return given;
      const elsewhere = await inTime(other.get(key, condition));
      // What neither has is the first's to tell, or why it cannot.
      return elsewhere === undefined || elsewhere.kind === "absent" ? asked : elsewhere;
    },
    put: (key, bytes, condition) => first.put(key, bytes, condition),
    list: (prefix, after) => first.list(prefix, after),
    folders: (prefix) => first.folders(prefix),
    delete: (key) => first.delete(key),
    time: async () => (await first.time?.().catch(() => undefined)) ?? copy.time?.(),
  };
}

/** What a store gave soon enough. */
async function inTime<T>(answer: Promise<T>): Promise<T | undefined> {
  const given = answer.catch(() => undefined);
  return (await settledWithin(given, patienceMs)) ? given : undefined;
}
