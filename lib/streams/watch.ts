import type { LoadedTree } from "../snapshot/reader/loaded.ts";
import type { GoneResource } from "./differences.ts";
import { mentionedNames } from "./mentioned-names.ts";
import { changedMap, changedSet, type NameMap, type NameSet, nameSet, namesIn, noNames, valueOf } from "./name-map.ts";

/**
 * One type of a stream: what its reader wants, has, and is owed. A value: what happens makes another of it. Each list that a reader can
 * make long is a `NameMap`, so that a request costs what it says, and not what was said before it.
 */
export interface Watch {
  readonly names: NameSet | "all";
  /** What it has of those is as it is there; undefined before the first answer. */
  readonly has: LoadedTree | undefined;
  /** What it has besides, and is to be told that it is gone. */
  readonly gone: NameMap<GoneResource>;
  readonly owed: Owed;
  /** Answers that it has neither accepted nor refused, the latest last. */
  readonly open: readonly SentAnswer[];
  /** Of the latest answer; "" before the first. */
  readonly nonce: string;
  /** What it has refused, and was not mended since. */
  readonly refused: NameSet;
}

/** What is to be sent besides what changes. */
export type Owed =
  | { readonly kind: "nothing" }
  /** Resources that were asked for, whether or not they were sent before. */
  | { readonly kind: "names"; readonly names: NameSet }
  /** An answer, whatever there is, but for what it says it has. */
  | { readonly kind: "all"; readonly known: ReadonlyMap<string, string>; readonly version: string };

/** An answer as refusals need it. */
export interface SentAnswer {
  readonly nonce: string;
  /** What was in it, gone resources among them. */
  readonly names: readonly string[];
  /** Version of the type before and with it. */
  readonly kept: string | undefined;
  readonly version: string;
  readonly classId: string;
  readonly root: string;
}

/** A request for a type, as both kinds of stream have it in common. */
interface Verdict {
  readonly nonce: string;
  /** What the reader says of an answer that it refuses. */
  readonly error: string | undefined;
}

/** A DiscoveryRequest: all names that are wanted. */
export interface WholeRequest extends Verdict {
  readonly names: readonly string[];
  /** What the reader had before the stream began. */
  readonly version: string;
}

/** A DeltaDiscoveryRequest: what is wanted besides, and no more. */
export interface DeltaRequest extends Verdict {
  readonly subscribe: readonly string[];
  readonly unsubscribe: readonly string[];
  /** What the reader had before the stream began, by name. */
  readonly known: ReadonlyMap<string, string>;
}

/** What a request says of an answer that it refuses. */
interface AnswerRefusal {
  readonly answer: SentAnswer;
  /** The resources that its words name, or all in the answer where they name none. */
  readonly names: readonly string[];
  readonly isNaming: boolean;
  readonly error: string;
}

/** What a request comes to. */
export interface Asked {
  readonly watch: Watch;
  /** Names that were wanted before the request and are not any more. */
  readonly dropped: readonly string[];
  readonly refusal?: AnswerRefusal;
  /** Nothing is refused any more. */
  readonly isMended?: boolean;
}

const everything = "*";
const nothing: Owed = { kind: "nothing" };
const unknown = { kind: "all", known: new Map<string, string>(), version: "" } as const satisfies Owed;

const newWatch = (names: Watch["names"], owed: Owed): Watch => ({
  names,
  has: undefined,
  gone: noNames,
  owed,
  open: [],
  nonce: "",
  refused: noNames,
});

/**
 * A request of a state-of-the-world stream. Whoever repeats an accepted one asks again: it has a new reader for the old names.
 *
 * @param isWildcard whether the type can be asked for as a whole
 * @see https://www.envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol#ack-and-nack
 */
export function askedWhole(isWildcard: boolean, before: Watch | undefined, request: WholeRequest): Asked {
  const names = wantedNames(isWildcard, before, request.names);
  const dropped = droppedNames(before?.names, names);
  if (before === undefined || request.nonce === "") {
    if (names !== "all" && names.size === 0) return { watch: newWatch(names, nothing), dropped };
    // Of what comes by name the reader may want other names than before, so its version says nothing.
    const owed: Owed = isWildcard && names === "all" ? { ...unknown, version: request.version } : unknown;
    return { watch: newWatch(names, owed), dropped };
  }
  const wasOpen = before.open.some(({ nonce }) => nonce === request.nonce);
  const judged = judge(before, request);
  // A stale request: one with the newest nonce follows, and says all that is wanted then.
  if (request.nonce !== before.nonce) return { ...judged, dropped: [] };
  const owed = onlyWanted(owedFor(isWildcard, judged.watch, names, wasOpen), names);
  return { ...judged, watch: { ...judged.watch, names, owed }, dropped };
}

function wantedNames(isWildcard: boolean, before: Watch | undefined, names: readonly string[]): Watch["names"] {
  const isAll = names.length === 0 && isWildcard && (before === undefined || before.names === "all");
  return isAll || names.includes(everything) ? "all" : nameSet(names);
}

/** What an earlier request has named, and the one after it has not. The earlier one was as long. */
function droppedNames(before: Watch["names"] | undefined, names: Watch["names"]): readonly string[] {
  if (before === undefined || before === "all" || names === "all") return [];
  return namesIn(before).filter((name) => valueOf(names, name) === undefined);
}

function owedFor(isWildcard: boolean, { names: had, owed }: Watch, names: Watch["names"], wasOpen: boolean): Owed {
  if (owed.kind === "all") return owed;
  if (names === "all") return had === "all" && wasOpen ? owed : unknown;
  const added = had === "all" ? [] : namesIn(names).filter((name) => valueOf(had, name) === undefined);
  const isSame = had !== "all" && added.length === 0 && names.size === had.size;
  if (isSame && !wasOpen) return unknown;
  if (added.length === 0) return owed;
  // Clusters and listeners come whole: what is not there does not exist.
  return isWildcard ? unknown : alsoOwed(owed, added);
}

/**
 * A request of a delta stream. What it subscribes to counts whatever its nonce is: nobody says it again.
 *
 * @see https://www.envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol#incremental-xds
 */
export function askedDelta(isWildcard: boolean, before: Watch | undefined, request: DeltaRequest): Asked {
  const { subscribe, unsubscribe, known } = request;
  if (before === undefined) {
    const wanted = new Set(subscribe);
    for (const name of unsubscribe) wanted.delete(name);
    const isAll = wanted.has(everything) || (subscribe.length === 0 && isWildcard);
    if (!isAll && wanted.size === 0) return { watch: newWatch(noNames, nothing), dropped: [] };
    const names = isAll ? "all" : nameSet(wanted);
    return { watch: newWatch(names, { kind: "all", known, version: "" }), dropped: [] };
  }
  const dropped = new Set(unsubscribe);
  for (const name of subscribe) dropped.delete(name);
  const judged = judge(before, request);
  return { ...judged, watch: subscribed(judged.watch, subscribe, [...dropped]), dropped: [...dropped] };
}

/** @param dropped what is unsubscribed from and not subscribed to */
function subscribed(watch: Watch, subscribe: readonly string[], dropped: readonly string[]): Watch {
  if (subscribe.length === 0 && dropped.length === 0) return watch;
  if (subscribe.includes(everything)) return { ...watch, names: "all", owed: unknown };
  const owed = alsoOwed(watch.owed, subscribe);
  const gone = changedMap(watch.gone, [], dropped);
  if (watch.names === "all") {
    // Who wants everything and names something besides asks for that once more.
    if (!dropped.includes(everything)) return { ...watch, owed };
    const names = nameSet(subscribe);
    return { ...watch, names, gone, owed: onlyWanted(owed, names) };
  }
  return { ...watch, names: changedSet(watch.names, subscribe, dropped), gone, owed: notOwed(owed, dropped) };
}

/** What a request says of the answers before it. */
function judge(watch: Watch, { nonce, error }: Verdict): Pick<Asked, "watch" | "refusal" | "isMended"> {
  const at = watch.open.findIndex((answer) => answer.nonce === nonce);
  const answer = watch.open[at];
  if (answer === undefined) return { watch };
  const open = watch.open.slice(at + 1);
  if (error !== undefined) {
    // Envoy names what it refuses; the rest of the answer it takes.
    const blamed = mentionedNames(error, answer.names);
    const isNaming = blamed.length > 0;
    const names = isNaming ? blamed : answer.names;
    const refused = changedSet(watch.refused, names);
    return { watch: { ...watch, open, refused }, refusal: { answer, names, isNaming, error } };
  }
  if (watch.refused.size === 0) return { watch: { ...watch, open } };
  const refused = changedSet(watch.refused, [], answer.names);
  return { watch: { ...watch, open, refused }, ...(refused.size === 0 ? { isMended: true } : {}) };
}

/** The same watch, owed some names besides. */
export const owing = (watch: Watch, names: readonly string[]): Watch => ({
  ...watch,
  owed: alsoOwed(watch.owed, names),
});

function alsoOwed(owed: Owed, names: readonly string[]): Owed {
  if (owed.kind === "all" || names.length === 0) return owed;
  return named(changedSet(owed.kind === "names" ? owed.names : noNames, names));
}

function notOwed(owed: Owed, names: readonly string[]): Owed {
  return owed.kind === "names" ? named(changedSet(owed.names, [], names)) : owed;
}

/** Nobody waits for what he wants no more. */
function onlyWanted(owed: Owed, names: Watch["names"]): Owed {
  if (owed.kind !== "names" || names === "all") return owed;
  return notOwed(
    owed,
    namesIn(owed.names).filter((name) => valueOf(names, name) === undefined),
  );
}

const named = (names: NameSet): Owed => (names.size === 0 ? nothing : { kind: "names", names });

/** Answers that a reader owes a word; beyond that the oldest is forgotten. */
const maxOpen = 8;

/** What a watch is once an answer is under way. @param gone what is still to be told of */
export function sent(watch: Watch, has: LoadedTree, answer: SentAnswer, gone: NameMap<GoneResource>): Watch {
  return { ...upToDate(watch, has), gone, open: [...watch.open, answer].slice(-maxOpen), nonce: answer.nonce };
}

/** What a watch is that has nothing to be told. */
export const upToDate = (watch: Watch, has: LoadedTree): Watch => ({ ...watch, has, owed: nothing });
