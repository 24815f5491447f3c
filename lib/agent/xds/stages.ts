import { isSame, isSameOffer, type LocalResources, type Offer, united } from "./offer.ts";

/** What a stage waits for. */
export interface StageFacts {
  /** Whether Envoy's new clusters and listeners are ready, once it has taken the stage before. */
  readonly isWarm: boolean;
}

/**
 * The next step on the way from one offer to another, make before break: first clusters, endpoints, and route tables under new names, with
 * all that was there before; then, when Envoy has taken these and its clusters are warm, routes and listeners; and what is not wanted any
 * more goes last, when nothing leads to it.
 *
 * @param facts whether Envoy has taken what is offered, and is warm
 * @returns the offer itself while there is something to wait for
 */
export function nextStage(
  offered: Offer,
  target: Offer,
  { isSettled, isWarm }: StageFacts & { readonly isSettled: boolean },
): Offer {
  /** Routes and listeners lead where they should, and all that was there before still is. */
  const switched: Offer = {
    clusters: united(offered.clusters, target.clusters),
    endpoints: united(offered.endpoints, target.endpoints),
    routes: united(offered.routes, target.routes),
    listeners: target.listeners,
  };
  const isReady = isSettled && isWarm;
  const isLedElsewhere = !isSame(offered.listeners, target.listeners) || hasOther(offered.routes, target.routes);
  if (isLedElsewhere) {
    const prepared = { ...switched, routes: united(target.routes, offered.routes), listeners: offered.listeners };
    if (!isSameOffer(prepared, offered)) return prepared;
    return isReady ? switched : offered;
  }
  const isLosing = losesNames(offered.clusters, target.clusters) || losesNames(offered.routes, target.routes);
  return isLosing && !isReady ? switched : target;
}

/** Whether a name that both have stands for something else. */
function hasOther(before: LocalResources, after: LocalResources): boolean {
  for (const [name, { version }] of after) {
    const had = before.get(name);
    if (had !== undefined && had.version !== version) return true;
  }
  return false;
}

const losesNames = (before: LocalResources, after: LocalResources): boolean => {
  for (const name of before.keys()) if (!after.has(name)) return true;
  return false;
};
