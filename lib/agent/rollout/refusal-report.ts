import { type CoreType, coreTypes } from "../../snapshot/resource-type.ts";
import { oneLine } from "../envoy/envoy-keeper.ts";
import type { Source } from "../source/source.ts";
import type { EnvoyRollout } from "../xds/envoy-rollout.ts";
import type { RefusedResource } from "../xds/refusal-search.ts";

/** Reports what Envoy refuses and accepts. */
export interface RefusalReport {
  refused(): readonly RefusedResource[];
  /** Reports to people what is newly refused, and to the source what is refused and accepted of these versions. */
  report(rollout: EnvoyRollout, versions: Readonly<Record<CoreType, string>> | undefined): void;
}

export function createRefusalReport(source: Source, say: (line: string) => void): RefusalReport {
  let refused: readonly RefusedResource[] = [];
  return {
    refused: () => refused,
    report(rollout, versions) {
      const now = rollout.refused();
      if (now === refused && !rollout.isDone()) return;
      for (const { type, name, words } of now.filter((one) => !refused.includes(one)))
        say(`Envoy refuses ${type} "${name}", and keeps what it has of it: ${oneLine(words)}`);
      refused = now;
      for (const type of coreTypes) {
        const of = now.filter((one) => one.type === type);
        const version = versions?.[type];
        if (version === undefined || of.length === 0) source.rejects(type, undefined);
        else {
          const words = of.map((one) => one.words).join("\n");
          source.rejects(type, { version, names: of.map(({ name }) => name), words });
        }
        if (of.length === 0 && version !== undefined && rollout.isDone()) source.accepts(type, version);
      }
    },
  };
}
