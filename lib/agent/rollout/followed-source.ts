import { type CoreType, coreTypes, mapTypes } from "../../snapshot/resource-type.ts";
import { oneLine } from "../envoy/envoy-keeper.ts";
import type { Holding, WholeHoldings } from "../source/resources.ts";
import { acceptedBefore, type Source } from "../source/source.ts";
import type { EnvoyRollout } from "../xds/envoy-rollout.ts";
import type { MadeOffer, ResourceTexts } from "../xds/local-resources.ts";

/** What an agent has heard from its source. */
export interface FollowedSource {
  /** Versions of the newest resources; undefined before there were any. */
  versions(): Readonly<Record<CoreType, string>> | undefined;
  /** Why nothing new can be learnt; undefined while something can. */
  trouble(): string | undefined;
}

export interface FollowOptions {
  readonly make: (texts: ResourceTexts) => MadeOffer;
  /** Called after the newest resources were handed to `rollout`. */
  readonly onChange: () => void;
  readonly onNames: ((names: Holding) => void) | undefined;
  readonly say: (line: string) => void;
}

/** Hands what a source has to `rollout`, whenever it is other than before. */
export function followSource(source: Source, rollout: EnvoyRollout, options: FollowOptions): FollowedSource {
  const { make, onChange, onNames, say } = options;
  let last: WholeHoldings | undefined;
  let versions: Readonly<Record<CoreType, string>> | undefined;
  let trouble: string | undefined;
  const before = rollout.taken();
  for (const type of coreTypes) source.accepts(type, before[type].size === 0 ? "" : acceptedBefore);
  source.start({
    changed(holdings) {
      const { name_tables: names } = holdings;
      if (names !== undefined && names !== last?.name_tables) onNames?.(names);
      const isSame = last !== undefined && coreTypes.every((type) => holdings[type] === last?.[type]);
      last = holdings;
      if (isSame) return;
      const { offer, unwritable } = make(mapTypes(holdings, ({ resources }) => resources));
      versions = mapTypes(holdings, ({ version }) => version);
      rollout.want(offer, unwritable);
      onChange();
    },
    trouble(why) {
      const rest = rollout.offered() === undefined ? "" : "; Envoy keeps what it has";
      if (why !== trouble) say(`nothing new can be learnt: ${oneLine(why)}${rest}`);
      trouble = why;
    },
    reached() {
      if (trouble !== undefined) say("what is new can be learnt again");
      trouble = undefined;
    },
  });
  return { versions: () => versions, trouble: () => trouble };
}
