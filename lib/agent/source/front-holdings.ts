import { createTreeEncoder } from "../../snapshot/worlds/encode-tree.ts";
import { fetchDelta } from "./delta-fetch.ts";
import type { EnvoyReport } from "./envoy-reports.ts";
import type { FrontClient } from "./front-client.ts";
import type { AgentNode } from "./node.ts";
import { type HeldType, type Holdings, isWhole, versionsIn, type WholeHoldings } from "./resources.ts";
import type { SourceSink } from "./source.ts";

export interface FrontHoldingsOptions {
  readonly client: FrontClient;
  readonly node: AgentNode;
  readonly types: readonly HeldType[];
  /** Checks whether what was fetched is what a signed HEAD leads to. @throws PortolanError when it is not */
  readonly verify?: ((holdings: WholeHoldings) => Promise<void>) | undefined;
}

/** Requests of one moment. */
export interface FetchCall {
  /** How long the front may hold the request. */
  readonly holdMs: number;
  readonly signal: AbortSignal;
  readonly report: EnvoyReport;
}

/** What was fetched of a front, by type. */
export interface FrontHoldings {
  versionOf(type: HeldType): string | undefined;
  /** Fetches one type and keeps it. @returns whether there was something new @throws PortolanError */
  fetch(type: HeldType, call: FetchCall): Promise<boolean>;
  /** Gives the sink all types, once they are complete, different from the last time and verified. @throws what `verify` throws */
  publish(sink: SourceSink): Promise<void>;
  /** Drops what was not published: texts that do not match their version, or were not verified, are fetched in full again. */
  dropUnpublished(): void;
}

export function createFrontHoldings(options: FrontHoldingsOptions): FrontHoldings {
  const { client, node, types, verify = async () => {} } = options;
  const encodeTree = createTreeEncoder();
  let holdings: Holdings = {};
  /** The versions that the sink has. */
  let published = "";

  return {
    versionOf: (type) => holdings[type]?.version,
    async fetch(type, { holdMs, signal, report }) {
      const { accepted, complaint } = report;
      const before = holdings[type];
      const next = await fetchDelta(client, { type, node, before, holdMs, complaint, accepted, encodeTree, signal });
      if (next === undefined) return false;
      holdings = { ...holdings, [type]: next };
      return true;
    },
    async publish(sink) {
      const all = holdings;
      if (!isWhole(all, types) || versionsIn(all, types) === published) return;
      await verify(all);
      // Something else was fetched meanwhile: its own call publishes it.
      if (holdings !== all) return;
      published = versionsIn(all, types);
      sink.changed(all);
    },
    dropUnpublished() {
      if (!isWhole(holdings, types) || versionsIn(holdings, types) !== published) holdings = {};
    },
  };
}
