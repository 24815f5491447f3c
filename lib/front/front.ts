import type { NodeClaims } from "../base/classifier.ts";
import type { CertificateAuthority, CertificateRecord } from "../ca/certificate-authority.ts";
import { type BodyPool, createBodyPool } from "../limits/body-pool.ts";
import { type Budget, createBudget } from "../limits/budget.ts";
import { limits as defaultLimits, type Limits } from "../limits/limits.ts";
import { createSemaphore, type Semaphore } from "../limits/semaphore.ts";
import type { SecretStore } from "../secrets/secret-store.ts";
import { type AnalysisRecord, readAnalysis } from "../snapshot/analysis-record.ts";
import { rolloutFor } from "../snapshot/head/cohorts.ts";
import { cohortsOf, nextStageMs, rootAt } from "../snapshot/head/head.ts";
import type { ShareNode } from "../snapshot/head/share.ts";
import type { SigningJwk } from "../snapshot/head/signing-keys.ts";
import { packedBlobs } from "../snapshot/packs/packed-blobs.ts";
import type { LoadedRoot } from "../snapshot/reader/loaded.ts";
import { createSnapshotReader, type SnapshotReader } from "../snapshot/reader/snapshot-reader.ts";
import type { Head } from "../snapshot/root.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { createDifferences, type Differences } from "../streams/differences.ts";
import { createReportedNacks, type ReportedNacks } from "./ads/reported-nacks.ts";
import type { Lookups } from "./api/schema/lookups.ts";
import { type Authentication, noAuthentication } from "./auth/authentication.ts";
import { type Caller, completed } from "./auth/caller.ts";
import { shown } from "./excess.ts";
import type { BelievedGenerations } from "./heads/believed-generations.ts";
import { type CdsAcks, memoryCdsAcks } from "./heads/cds-acks.ts";
import { createStates } from "./heads/head-state.ts";
import { createHeads, type Heads } from "./heads/heads.ts";
import { createLastRoot } from "./heads/last-root.ts";
import { hasStageCondition, rolloutOf, type Switching } from "./heads/switches.ts";
import { createWaiterGroups, type WaiterGroups } from "./heads/waiter-groups.ts";
import { type FrontMetrics, noMetrics } from "./metrics.ts";
import { type ExplainedRefusal, explainRefusal } from "./nodes/explain-refusal.ts";
import { statesOf } from "./nodes/front-nodes.ts";
import { createMissedBlobs } from "./nodes/missed-blobs.ts";
import { countedNodes } from "./nodes/node-state.ts";
import { type NodeWatch, noNodes } from "./nodes/node-watch.ts";
import type { Placement } from "./nodes/place-node.ts";
import { createPlacements } from "./nodes/placements.ts";
import { isProbe } from "./nodes/probe-node.ts";
import { createRefusalWatch, type Refusal, type RefusalWatch } from "./nodes/refusals.ts";
import { requestingNodeOf } from "./nodes/requesting-node.ts";
import { noSiblings, type Siblings } from "./nodes/siblings.ts";
import { createUnmatchedWatch, type UnmatchedNode, type UnmatchedWatch } from "./nodes/unmatched-nodes.ts";
import { createWantedClasses } from "./nodes/wanted-classes.ts";
import type { Moves } from "./operate/moves.ts";
import { createExtensionLists, type ExtensionLists } from "./polls/extension-lists.ts";
import { createKnownPolls, type KnownPolls } from "./polls/known-polls.ts";
import { createQuestions, type Questions } from "./polls/questions.ts";
import { createSharedAnswers, type SharedAnswers } from "./polls/shared-answers.ts";
import { createReadiness, type Readiness } from "./readiness.ts";
import type { Registrations } from "./registration/registrations.ts";
import { createSecretFeed, type SecretFeed } from "./secrets/secrets.ts";
import { createBundleReader } from "./secrets/trust-bundles.ts";
import type { FindCauses } from "./tracing/causes.ts";
import type { LoadTracer } from "./tracing/tracer.ts";
import { createWasmModules, type WasmModules } from "./wasm-modules.ts";

export interface FrontOptions {
  readonly store: ObjectStore;
  /** How old HEAD may be; one second by default. */
  readonly headTtlMs?: number;
  /** Longest time to hold a poll that has nothing new; 0, the default, never holds. */
  readonly maxHoldMs?: number;
  readonly metrics?: FrontMetrics;
  /** What requests may cost; those of lib/limits by default. */
  readonly limits?: Limits;
  readonly now?: () => number;
  /** Where what nodes have confirmed is remembered; in this process by default. */
  readonly cdsAcks?: CdsAcks;
  /** Keys of which one must have signed HEAD before it is followed; without them any HEAD is. */
  readonly trusted?: readonly SigningJwk[];
  /** Newest generation of HEAD that was believed before this front, or beside it; absent: it starts with none. */
  readonly generations?: BelievedGenerations;
  /** Who may ask; anybody by default. */
  readonly authentication?: Authentication;
  /** Secrets for nodes that prove who they are; absent: none are served. */
  readonly secrets?: SecretStore | undefined;
  /** Signs workloads' certificates; absent: none are signed here. */
  readonly authority?: CertificateAuthority | undefined;
  /** Hears of each certificate that was given, for an audit log. */
  readonly onCertificate?: ((record: CertificateRecord) => void) | undefined;
  readonly onCertificateRefused?: ((refusal: RefusedCertificate) => void) | undefined;
  /** Follows requests through proxies for the console; absent: the command line does. */
  readonly loadTracer?: LoadTracer | undefined;
  /** Says by file and line what decided about a followed request; absent: objects are named alone. */
  readonly findCauses?: FindCauses | undefined;
  /** Collected sources that may not be as their upstreams are, for operators; absent: this server does not read that. */
  readonly behindSources?: (() => Promise<readonly BehindSource[]>) | undefined;
  /** What was looked up in a network, for operators; absent: nobody says. */
  readonly lookups?: (() => Promise<readonly Lookups["lookups"][number][]>) | undefined;
  /** Moves HEAD for operators; absent: this front only reads. */
  readonly moves?: Moves | undefined;
  /** What is kept of nodes for `/status/nodes`; nothing by default. */
  readonly nodes?: NodeWatch;
  /** Registers machines that name a WorkloadGroup; absent: none are. */
  readonly registrations?: Registrations | undefined;
  /** Processes that serve as one front with this one; alone by default. */
  readonly siblings?: Siblings | undefined;
  readonly onRefusal?: (refusal: Refusal) => void;
  /** Told once of each node that no class was compiled for. */
  readonly onStranger?: (stranger: UnmatchedNode) => void;
  /**
   * To have the sources compiled when a node without a class of its own has asked for it, or a blob is missing; absent: no such node is
   * waited for, and nobody is told of such a blob. The store has to be one that may be written under `wanted/`.
   */
  readonly onWanted?: (() => unknown) | undefined;
  readonly onError?: (cause: unknown) => void;
}

/** A certificate that a workload did not get. */
export interface RefusedCertificate {
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly pod: string | undefined;
  readonly reason: string;
}

/** A collected source whose origin cannot be read. */
export interface BehindSource {
  readonly name: string;
  /** Until then it is known to be as its origin was, RFC 3339; absent: it was never read completely. */
  readonly asOf?: string | undefined;
  readonly failure: string;
}

/** Everything that the front's handlers share: the store seen through caches. */
export interface Front {
  readonly reader: SnapshotReader;
  /** For people who look around: apart from `reader`, so that they push nothing out that nodes are about to be served. */
  readonly browsing: SnapshotReader;
  /** Passed by whoever has one read that a request names. */
  readonly olderRoots: Semaphore;
  /** What tells trees apart, for streams and for delta requests. */
  readonly differences: Differences;
  /** Hashes of the roots that were served last, the latest last. */
  recentRoots(): readonly string[];
  readonly heads: Heads;
  /** Polls that wait for the same. */
  readonly waiterGroups: WaiterGroups;
  readonly metrics: FrontMetrics;
  readonly refusals: RefusalWatch;
  readonly strangers: UnmatchedWatch;
  readonly nodes: NodeWatch;
  readonly registrations: Registrations | undefined;
  readonly siblings: Siblings;
  readonly maxHoldMs: number;
  readonly authentication: Authentication;
  readonly secrets: SecretFeed | undefined;
  readonly authority: CertificateAuthority | undefined;
  readonly onCertificate: (record: CertificateRecord) => void;
  readonly onCertificateRefused: (refusal: RefusedCertificate) => void;
  /** Certificates in ConfigMaps that a root has, by the hash of their blob. */
  readonly trustBundles: ReturnType<typeof createBundleReader>;
  readonly modules: WasmModules;
  readonly moves: Moves | undefined;
  readonly behindSources: FrontOptions["behindSources"];
  readonly lookups: FrontOptions["lookups"];
  /** What the analysers found in the world of a root, or why they did not run; undefined: nothing is recorded, or this server may not read it. */
  readonly analysis: (root: string) => Promise<AnalysisRecord | undefined>;
  readonly loadTracer: LoadTracer | undefined;
  readonly findCauses: FindCauses | undefined;
  readonly limits: Limits;
  /** Of Envoys that polled. */
  readonly extensionLists: ExtensionLists;
  readonly knownPolls: KnownPolls;
  readonly questions: Questions;
  /** Of polls. */
  readonly shared: SharedAnswers;
  /** Of bodies being read. */
  readonly bodies: BodyPool;
  /** Of requests being held. */
  readonly held: Budget;
  /** Of answers that lie in memory whole. */
  readonly answers: Semaphore;
  /** What `served` says of every node, where it says the same of all and nothing has to be read for it; else undefined. */
  servedToAll(): Served | undefined;
  /**
   * The root in force for a node: the canary's if it takes part in one, and that of a step to come if the node need not wait for it.
   *
   * @param switching absent: the node waits for the time of every step
   * @param ifSilent `last`: the root before, if the store does not give the one in force
   * @returns undefined before the first publish
   */
  served(node: ShareNode, switching?: Switching, ifSilent?: "last"): Promise<Served | undefined>;
  readonly cdsAcks: CdsAcks;
  /**
   * The class of a node whose claim is its caller's to make, from what the request itself says of it and from nothing that was said
   * before.
   */
  place(loaded: LoadedRoot, claims: NodeClaims, caller: Caller): Promise<Placement>;
  /** Whether polls can be answered from what is in force. Cheap: strangers may ask. */
  readiness(): Promise<Readiness>;
  /** Refusals that agents tell of, in delta requests. */
  readonly said: ReportedNacks;
  /** Where else refusals are heard of than in polls; streams add theirs. */
  readonly heard: Pick<ReportedNacks, "active" | "explained">[];
  readonly onRefusal: (refusal: Refusal) => void;
  /** The clock of what is kept of nodes. */
  readonly now: () => number;
  /** The latest refusals that stand and that this process has heard of, each with the resources that it may be about. */
  explainRefusals(): Promise<readonly ExplainedRefusal[]>;
  readonly onError: (cause: unknown) => void;
  /** Counts and logs an error of a server that lost a connection and goes on. */
  readonly serverError: (cause: unknown) => void;
  close(): void;
}

/** A root, and what HEAD was like when it was chosen: what to wait for a change of. */
export interface Served {
  readonly loaded: LoadedRoot;
  readonly state: string;
  /** Roots of steps to come that the node does not meet the conditions of; it may have been served one of them before. */
  readonly ahead: readonly LoadedRoot[];
  /** It is the root before the one in force, which the store does not give. */
  readonly isBehind: boolean;
  /** The root's hash, where it is not everybody's: the node is in a canary, or ahead of a step. */
  readonly apart: string | undefined;
}

const maxRecentRoots = 8;

/** What all nodes are served alike, for as long as HEAD is this one and the next step has not come. */
interface SameForAll {
  readonly head: Head;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly served: Served;
}

/** Stored size of what is kept for people who look around. */
const browsingBytes = 8 * 1024 * 1024;

/** Whether a node matches no class. */
const isWanting = (placement: Placement): boolean =>
  placement.kind === "unplaced" || (placement.kind === "placed" && placement.byDefault !== undefined);

export function createFront(options: FrontOptions): Front {
  const now = options.now ?? Date.now;
  const metrics = options.metrics ?? noMetrics;
  const onError = options.onError ?? (() => {});
  const limits = options.limits ?? defaultLimits;
  const { onWanted } = options;
  const missed = onWanted && createMissedBlobs({ store: options.store, now, trigger: onWanted, onError });
  const reader = createSnapshotReader(packedBlobs(options.store), undefined, missed);
  const heads = createHeads(options.store, {
    ttlMs: options.headTtlMs ?? 1_000,
    now,
    trusted: options.trusted,
    generations: options.generations,
    onError: (cause) => {
      metrics.headError();
      onError(cause);
    },
  });
  const nodes = options.nodes ?? noNodes;
  const onRefusal = (refusal: Refusal) => {
    metrics.refusal(refusal.type);
    nodes.refused(refusal);
    options.onRefusal?.(refusal);
  };
  const refusals = createRefusalWatch(now, onRefusal, limits);
  const strangers = createUnmatchedWatch(now, options.onStranger ?? (() => {}), limits.refusalMs);
  const said = createReportedNacks(reader, now, onRefusal, limits, limits.refusalMs);
  const heard: Front["heard"] = [said];
  /** Whoever asks no more refuses nothing any more. */
  const isAsking = (refusal: Refusal) => nodes.isAsking?.(refusal) ?? true;
  const active = () => [...heard, refusals].flatMap((source) => source.active()).filter(isAsking);
  metrics.refusing?.(() => active().map(({ type }) => type));
  const lastRoot = createLastRoot(reader, onError);
  const places = createPlacements(reader);
  const wanted = onWanted && createWantedClasses({ store: options.store, now, trigger: onWanted, onError });
  const stateAt = createStates();
  /** Roots that were served, the latest last. */
  let recentRoots: readonly string[] = [];
  let sameForAll: SameForAll | undefined;

  const extensionLists = createExtensionLists(limits.extensionBytes);
  const answers = createSemaphore(limits.answersBytes);

  const front: Front = {
    reader,
    browsing: createSnapshotReader(options.store, browsingBytes),
    olderRoots: createSemaphore(limits.olderRoots),
    differences: createDifferences(reader),
    recentRoots: () => recentRoots,
    heads,
    waiterGroups: createWaiterGroups(reader, async () => {
      await front.served({ nodeId: "", labels: () => ({}) });
      return front.servedToAll()?.loaded;
    }),
    metrics,
    refusals,
    strangers,
    nodes,
    registrations: options.registrations,
    siblings: options.siblings ?? noSiblings,
    maxHoldMs: options.maxHoldMs ?? 0,
    authentication: options.authentication ?? noAuthentication,
    secrets: options.secrets && createSecretFeed(options.secrets, { now, onError }),
    authority: options.authority,
    onCertificate: options.onCertificate ?? (() => {}),
    onCertificateRefused: options.onCertificateRefused ?? (() => {}),
    trustBundles: createBundleReader(reader),
    modules: createWasmModules(options.store, answers),
    moves: options.moves,
    behindSources: options.behindSources,
    lookups: options.lookups,
    // Where nothing may be listed, S3 refuses to say that an object is absent.
    analysis: (root) => readAnalysis(options.store, root).catch(() => undefined),
    loadTracer: options.loadTracer,
    findCauses: options.findCauses,
    limits,
    extensionLists,
    knownPolls: createKnownPolls(limits, extensionLists),
    questions: createQuestions(),
    shared: createSharedAnswers(reader, limits.sharedBytes, answers),
    bodies: createBodyPool(limits),
    held: createBudget(limits.heldBytes),
    answers,
    cdsAcks: options.cdsAcks ?? memoryCdsAcks(now),
    servedToAll() {
      const head = heads.fresh();
      if (head === undefined || sameForAll?.head !== head) return undefined;
      const nowMs = heads.timeMs();
      return nowMs >= sameForAll.fromMs && nowMs < sameForAll.untilMs ? sameForAll.served : undefined;
    },
    async served(node, switching, ifSilent) {
      const head = await heads.current();
      if (head === undefined) return undefined;
      const nowMs = heads.timeMs();
      const rollout = rolloutFor(head, node);
      const { root, ahead } =
        switching !== undefined && hasStageCondition(rollout, nowMs)
          ? await rolloutOf(reader, rollout, nowMs, switching)
          : { root: rootAt(rollout, nowMs), ahead: [] };
      if (recentRoots.at(-1) !== root) {
        recentRoots = [...recentRoots.filter((hash) => hash !== root), root].slice(-maxRecentRoots);
      }
      const state = stateAt(head, nowMs);
      // Nodes on ways of their own, or ahead of a step, have no last root in common with others.
      if (rollout !== head || ahead.length > 0 || root !== rootAt(rollout, nowMs))
        return {
          loaded: await reader.root(root),
          state,
          ahead,
          isBehind: false,
          apart: root === rootAt(head, nowMs) ? undefined : root,
        };
      const { loaded, isBehind } =
        ifSilent === "last" ? await lastRoot.orLast(root) : { loaded: await reader.root(root), isBehind: false };
      if (!isBehind) lastRoot.served(loaded);
      const served = { loaded, state, ahead, isBehind, apart: undefined };
      if (!isBehind && cohortsOf(head).length === 0 && !hasStageCondition(rollout, nowMs))
        sameForAll = { head, fromMs: nowMs, untilMs: nextStageMs(head, nowMs) ?? Number.POSITIVE_INFINITY, served };
      return served;
    },
    async place(loaded, claims, caller) {
      const placement = places.of(loaded, claims, caller) ?? (await places.find(loaded, claims, caller));
      if (isProbe(claims)) return placement;
      if (
        wanted !== undefined &&
        isWanting(placement) &&
        (await wanted.want(loaded.classifier, completed(caller, claims), caller))
      ) {
        return { kind: "pending", reason: `the class of node "${shown(claims.id)}" is being compiled` };
      }
      strangers.placed(requestingNodeOf(caller, claims), placement);
      return placement;
    },
    readiness: createReadiness({ heads, reader, hasOlder: () => lastRoot.isThere(), now, onError }),
    async explainRefusals() {
      const explained: ExplainedRefusal[] = [];
      for (const source of heard) explained.push(...(await source.explained()).filter(isAsking));
      for (const refusal of refusals.active().filter(isAsking).slice(0, limits.refusals)) {
        explained.push(await explainRefusal(reader, refusal, recentRoots));
      }
      return explained;
    },
    said,
    heard,
    onRefusal,
    now,
    onError,
    serverError: countedErrors(metrics, onError),
    close: () => heads.close(),
  };
  metrics.nodes?.(async () => {
    const [own, head] = [await nodes.own?.(), await heads.current()];
    return own === undefined || head === undefined ? undefined : countedNodes(await statesOf(front, head, own));
  });
  return front;
}

/** Counts all errors of servers, and logs the first, second, fourth, eighth and so on: a machine without descriptors has one for each connection. */
function countedErrors(metrics: FrontMetrics, onError: (cause: unknown) => void): (cause: unknown) => void {
  let count = 0;
  let nextLogged = 1;
  return (cause) => {
    metrics.serverError?.();
    count += 1;
    if (count < nextLogged) return;
    nextLogged *= 2;
    onError(cause);
  };
}
