import { Code, ConnectError } from "@connectrpc/connect";
import { labelsOf } from "../../base/classifier.ts";
import type { Budget } from "../../limits/budget.ts";
import { wireVersion } from "../../snapshot/parts-version.ts";
import type { LoadedTree } from "../../snapshot/reader/loaded.ts";
import type { ResourceType } from "../../snapshot/resource-type.ts";
import type { StreamKind } from "../../streams/due.ts";
import type { InForce, Reader, StreamHost, Who } from "../../streams/stream.ts";
import type { Caller } from "../auth/caller.ts";
import { connectErrorOf } from "../connect/connect-error.ts";
import type { PlaceServices } from "../delta/tree-in-force.ts";
import type { Front, Served } from "../front.ts";
import type { ServedAs } from "../nodes/node-watch.ts";
import { requestingNodeOf } from "../nodes/requesting-node.ts";
import { refuseUnplaced } from "../polls/outcome.ts";
import { type SecretSources, secretsOf } from "../secrets/secret-answer.ts";
import { secretTtlMs } from "../secrets/secrets.ts";
import { dueSecrets } from "./due-secrets.ts";
import type { ReportedNacks } from "./reported-nacks.ts";
import { type FrontSources, streamSwitching } from "./stream-switch.ts";

/** What all streams of a front have in common. */
export interface SharedByStreams {
  readonly sources: FrontSources;
  readonly refusals: ReportedNacks;
  readonly budget: Budget;
}

/** What a stream is served from. */
export type HostServices = PlaceServices &
  SecretSources &
  Pick<Front, "limits" | "heads" | "served" | "nodes" | "metrics">;

/** A front as the server of one stream: what HEAD leads the stream's node to. */
export function frontHost(
  front: HostServices,
  kind: StreamKind,
  caller: Caller,
  { sources, refusals, budget }: SharedByStreams,
): StreamHost {
  let as: ServedAs = {};
  /** Ends what its node was noted for. */
  let leave: (() => void) | undefined;
  const nodeOf = ({ claims, type }: Who) => ({ ...requestingNodeOf(caller, claims), type });
  return {
    limits: front.limits,
    secretsMs: secretTtlMs,
    sources,
    budget,
    isClosed: () => front.heads.isClosed(),
    async now(reader) {
      const { claims } = reader;
      const switching = streamSwitching(sources, reader, caller);
      const served = await front.served({ nodeId: claims.id, labels: () => labelsOf(claims) }, switching);
      if (served === undefined) throw new ConnectError("nothing was published yet", Code.Unavailable);
      const force = await inForce(front, served, reader, { kind, caller });
      as = { classId: force?.classId, root: served.apart };
      if (force !== undefined) leave ??= front.nodes.streams?.(requestingNodeOf(caller, claims));
      return { state: served.state, force };
    },
    waitForChange: (state, timeoutMs, signal) => front.heads.waitForChange(state, timeoutMs, signal),
    has: (who, { version }) =>
      front.nodes.has({ ...nodeOf(who), name: "" }, wireVersion(version), kind === "delta" ? "delta" : "stream", as),
    accepted() {},
    settled() {},
    refused: (who, refusal) => refusals.refused(nodeOf(who), refusal),
    mended: (who) => refusals.mended(nodeOf(who)),
    counted(difference) {
      front.metrics.stream?.(difference);
      if (difference < 0) leave?.();
    },
    sending: (type) => front.metrics.poll(type, "changed"),
  };
}

/** @returns undefined for a node that had a place and has none any more: it keeps what it has */
async function inForce(
  front: PlaceServices & SecretSources,
  { loaded }: Served,
  { claims, watches }: Reader,
  { kind, caller }: { readonly kind: StreamKind; readonly caller: Caller },
): Promise<InForce | undefined> {
  const placement = await front.place(loaded, claims, caller);
  const shape = placement.kind === "placed" ? loaded.classes.get(placement.classId)?.stream : undefined;
  if (placement.kind !== "placed" || shape === undefined) {
    const isNew = [...watches.values()].every(({ has }) => has === undefined);
    if (placement.kind === "pending") return undefined;
    if (placement.kind === "forbidden" || (isNew && placement.kind !== "placed"))
      throw connectErrorOf(refuseUnplaced(placement));
    return undefined;
  }
  const trees = new Map<ResourceType, LoadedTree>();
  for (const type of watches.keys()) trees.set(type, await front.reader.tree(loaded.root, type, shape[type]));
  const { classId } = placement;
  const secrets = secretsOf(loaded, classId);
  return {
    root: loaded.hash,
    classId,
    trees,
    dueSecrets: (watch) => dueSecrets(front, { kind, caller, secrets, nowMs: performance.now() }, watch),
  };
}
