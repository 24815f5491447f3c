import { PortolanError } from "../../base/diagnostic.ts";
import { mapTypes } from "../../snapshot/resource-type.ts";
import { oneLine } from "../envoy/envoy-keeper.ts";
import type { TakenLog, TakenTexts } from "../files/taken-log.ts";
import type { EnvoyRollout } from "../xds/envoy-rollout.ts";
import type { LocalResources, Offer } from "../xds/offer.ts";

/** Until a write that failed is tried again. */
const retryMs = 5_000;

/**
 * Keeps on disk what Envoy has taken.
 *
 * @returns writes it where it is other than what lies there; resolves to when to try again, by `performance.now()`
 */
export function createTakenWriter(
  log: TakenLog,
  rollout: EnvoyRollout,
  say: (line: string) => void,
): () => Promise<number> {
  let written = rollout.taken();
  let notBeforeMs = 0;
  let trouble = "";
  return async () => {
    const taken = rollout.taken();
    if (taken === written) return Number.POSITIVE_INFINITY;
    if (performance.now() < notBeforeMs) return notBeforeMs;
    try {
      await log.keep(textsOf(taken));
      written = taken;
      trouble = "";
      return Number.POSITIVE_INFINITY;
    } catch (cause) {
      if (!(cause instanceof PortolanError)) throw cause;
      if (cause.message !== trouble) say(oneLine(cause.message));
      trouble = cause.message;
      notBeforeMs = performance.now() + retryMs;
      return notBeforeMs;
    }
  };
}

const textsByResources = new WeakMap<LocalResources, ReadonlyMap<string, string>>();

/** The JSON that an offer was made from. A placeholder for a resource that does not exist has none. */
function textsOf(offer: Offer): TakenTexts {
  const of = (resources: LocalResources): ReadonlyMap<string, string> => {
    const found = textsByResources.get(resources);
    if (found !== undefined) return found;
    const texts = new Map<string, string>();
    for (const [name, { source }] of resources) if (source !== undefined) texts.set(name, source);
    textsByResources.set(resources, texts);
    return texts;
  };
  return mapTypes(offer, of);
}
