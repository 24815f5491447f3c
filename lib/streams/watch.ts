import { byCodePoint } from "../config/diagnostic.ts";
import type { LoadedTree } from "../snapshot/snapshot-reader.ts";
import type { GoneResource } from "./differences.ts";

/** One type of a stream: what its reader wants, has, and is owed. A value: what happens makes another of it. */
export interface Watch {
  /** Sorted. */
  readonly names: readonly string[] | "all";
  /** What it has of those is as it is there; undefined before the first answer. */
  readonly has: LoadedTree | undefined;
  /** What it has besides, and is to be told that it is gone. */
  readonly gone: readonly GoneResource[];
  readonly owed: Owed;
  /** Answers that it has neither accepted nor refused, the latest last. */
  readonly open: readonly SentAnswer[];
  /** Of the latest answer; "" before the first. */
  readonly nonce: string;
  /** What it has refused, and was not mended since. */
  readonly refused: readonly string[];
}

/** What is to be sent besides what changes. */
export type Owed =
  | { readonly kind: "nothing" }
  /** Resources that were asked for, whether or not they were sent before. */
  | { readonly kind: "names"; readonly names: readonly string[] }
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

/** What a request comes to. */
export interface Asked {
  readonly watch: Watch;
  /** The answer that the request refuses, and which resources in it. */
  readonly refusal?: { readonly answer: SentAnswer; readonly names: readonly string[]; readonly error: string };
  /** Nothing is refused any more. */
  readonly isMended?: boolean;
}

const everything = "*";
const nothing: Owed = { kind: "nothing" };
const unknown = { kind: "all", known: new Map<string, string>(), version: "" } as const satisfies Owed;

const newWatch = (names: Watch["names"], owed: Owed): Watch => ({
  names,
  has: undefined,
  gone: [],
  owed,
  open: [],
  nonce: "",
  refused: [],
});

/**
 * A request of a state-of-the-world stream. Whoever repeats an accepted one asks again: it has a new reader for the old names.
 *
 * @param isWildcard whether the type can be asked for as a whole
 * @see https://www.envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol#ack-and-nack
 */
export function askedWhole(isWildcard: boolean, before: Watch | undefined, request: WholeRequest): Asked {
  const names = wantedNames(isWildcard, before, request.names);
  if (before === undefined || request.nonce === "") {
    if (names !== "all" && names.length === 0) return { watch: newWatch(names, nothing) };
    // Of what comes by name the reader may want other names than before, so its version says nothing.
    const owed: Owed = isWildcard && names === "all" ? { ...unknown, version: request.version } : unknown;
    return { watch: newWatch(names, owed) };
  }
  const wasOpen = before.open.some(({ nonce }) => nonce === request.nonce);
  const judged = judge(before, request);
  // A stale request: one with the newest nonce follows, and says all that is wanted then.
  if (request.nonce !== before.nonce) return judged;
  return {
    ...judged,
    watch: { ...judged.watch, names, owed: onlyWanted(owedFor(isWildcard, judged.watch, names, wasOpen), names) },
  };
}

function wantedNames(isWildcard: boolean, before: Watch | undefined, names: readonly string[]): Watch["names"] {
  const isAll = names.length === 0 && isWildcard && (before === undefined || before.names === "all");
  return isAll || names.includes(everything) ? "all" : sorted(names);
}

function owedFor(isWildcard: boolean, watch: Watch, names: Watch["names"], wasOpen: boolean): Owed {
  if (watch.owed.kind === "all") return watch.owed;
  if (names === "all") return watch.names === "all" && wasOpen ? watch.owed : unknown;
  const had = new Set(watch.names === "all" ? [] : watch.names);
  const added = watch.names === "all" ? [] : names.filter((name) => !had.has(name));
  const isSame = watch.names !== "all" && added.length === 0 && names.length === watch.names.length;
  if (isSame && !wasOpen) return unknown;
  if (added.length === 0) return watch.owed;
  // Clusters and listeners come whole: what is not there does not exist.
  return isWildcard ? unknown : alsoOwed(watch.owed, added);
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
    if (!isAll && wanted.size === 0) return { watch: newWatch([], nothing) };
    return { watch: newWatch(isAll ? "all" : sorted(wanted), { kind: "all", known, version: "" }) };
  }
  const judged = judge(before, request);
  return { ...judged, watch: subscribed(judged.watch, subscribe, unsubscribe) };
}

function subscribed(watch: Watch, subscribe: readonly string[], unsubscribe: readonly string[]): Watch {
  if (subscribe.length === 0 && unsubscribe.length === 0) return watch;
  if (subscribe.includes(everything)) return { ...watch, names: "all", owed: unknown };
  // Who wants everything and names something besides asks for that once more.
  if (watch.names === "all" && !unsubscribe.includes(everything))
    return { ...watch, owed: alsoOwed(watch.owed, subscribe) };
  const names = changedNames(watch.names === "all" ? [] : watch.names, subscribe, unsubscribe);
  const owed = alsoOwed(watch.owed, subscribe);
  if (unsubscribe.length === 0) return { ...watch, names, owed };
  const left = new Set(unsubscribe);
  for (const name of subscribe) left.delete(name);
  return { ...watch, names, gone: watch.gone.filter(({ name }) => !left.has(name)), owed: onlyWanted(owed, names) };
}

/** Sorted names without some and with others, in time that grows with the list and not with its sorting: readers may name one at a time. */
function changedNames(
  names: readonly string[],
  added: readonly string[],
  removed: readonly string[],
): readonly string[] {
  const [more, less] = [sorted(added), new Set(removed)];
  const changed: string[] = [];
  let at = 0;
  for (const name of names) {
    for (let next = more[at]; next !== undefined && next <= name; next = more[++at]) changed.push(next);
    if (changed.at(-1) !== name && !less.has(name)) changed.push(name);
  }
  return changed.concat(more.slice(at));
}

/** What a request says of the answers before it. */
function judge(watch: Watch, { nonce, error }: Verdict): Asked {
  const at = watch.open.findIndex((answer) => answer.nonce === nonce);
  const answer = watch.open[at];
  if (answer === undefined) return { watch };
  const open = watch.open.slice(at + 1);
  if (error !== undefined) {
    // Envoy names what it refuses; the rest of the answer it takes.
    const blamed = answer.names.filter((name) => isNamed(error, name));
    const names = blamed.length > 0 ? blamed : answer.names;
    const refused = [...new Set([...watch.refused, ...names])];
    return { watch: { ...watch, open, refused }, refusal: { answer, names, error } };
  }
  if (watch.refused.length === 0) return { watch: { ...watch, open } };
  const taken = new Set(answer.names);
  const refused = watch.refused.filter((name) => !taken.has(name));
  return { watch: { ...watch, open, refused }, ...(refused.length === 0 ? { isMended: true } : {}) };
}

/** Whether a text names something, and not something longer: names have letters, figures, `_`, `-`, `|` and dots within. */
function isNamed(text: string, name: string): boolean {
  for (let at = text.indexOf(name); name !== "" && at >= 0; at = text.indexOf(name, at + 1)) {
    const after = text.slice(at + name.length, at + name.length + 2);
    if (!/[\w|.-]/.test(text.charAt(at - 1)) && !/^(?:[\w|-]|\.\w)/.test(after)) return true;
  }
  return false;
}

/** The same watch, owed some names besides. */
export const owing = (watch: Watch, names: readonly string[]): Watch => ({
  ...watch,
  owed: alsoOwed(watch.owed, names),
});

function alsoOwed(owed: Owed, names: readonly string[]): Owed {
  if (owed.kind === "all" || names.length === 0) return owed;
  return named(owed.kind === "names" ? [...new Set([...owed.names, ...names])] : names);
}

/** Nobody waits for what he wants no more. */
function onlyWanted(owed: Owed, names: Watch["names"]): Owed {
  if (owed.kind !== "names" || names === "all") return owed;
  const wanted = new Set(names);
  return named(owed.names.filter((name) => wanted.has(name)));
}

const named = (names: readonly string[]): Owed => (names.length === 0 ? nothing : { kind: "names", names });

/** Answers that a reader owes a word; beyond that the oldest is forgotten. */
const maxOpen = 8;

/** What a watch is once an answer is under way. @param gone what is still to be told of */
export function sent(watch: Watch, has: LoadedTree, answer: SentAnswer, gone: readonly GoneResource[]): Watch {
  return { ...upToDate(watch, has), gone, open: [...watch.open, answer].slice(-maxOpen), nonce: answer.nonce };
}

/** What a watch is that has nothing to be told. */
export const upToDate = (watch: Watch, has: LoadedTree): Watch => ({ ...watch, has, owed: nothing });

const sorted = (names: Iterable<string>): readonly string[] => [...new Set(names)].sort(byCodePoint);
