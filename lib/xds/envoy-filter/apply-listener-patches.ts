/** EnvoyFilter on listeners. @see docs/how-istio-does-it/envoy-filters.md#operations */

import type { ListenerFilterJson } from "../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import { type ListenerJson, ListenerSchema } from "../../../gen/envoy/config/listener/v3/listener_pb.ts";
import { byCodePoint, type ConfigKey, type Diagnostic, type Stage } from "../../base/diagnostic.ts";
import type { PatchContext } from "../../config/kinds/envoy-filter.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { ListenerView } from "../../mesh/views/views.ts";
import { allShared, type Parted, type Resource, wholeList } from "../resource.ts";
import { matchedInRoutes } from "./apply-route-patches.ts";
import { applyAcceptable, leftOut, type Refusal, withoutPatches } from "./leave-out.ts";
import { boundAddresses, listenerRefusals } from "./listener-refusals.ts";
import {
  matchesListenerFilter,
  matchesSomeChain,
  matchesSomeFilter,
  matchesSomeHttpFilter,
  tablesIn,
} from "./match-anything.ts";
import { matchesListener } from "./match-listener.ts";
import { matchNotes } from "./match-notes.ts";
import { type Copies, mergeAny, mergeMessage } from "./merge-message.ts";
import { hasContext, insertsGuard, isAddedIn, type Patch, type Patches, readPatches, unmergeable } from "./patch.ts";
import { patchChains } from "./patch-chains.ts";
import { patchInlineTables } from "./patch-inline-tables.ts";
import { patchList } from "./patch-list.ts";

type ListenerResource = Resource<ListenerJson>;

/**
 * @returns one listener more of a name or an address that is taken, and a patch for which Envoy would refuse a listener, is left out
 * and said
 */
export function applyListenerPatches(
  view: ListenerView,
  listeners: Parted<ListenerResource>,
  memo: Memo,
): Stage<Parted<ListenerResource>> {
  if (view.envoyFilters.patches.length === 0) return { value: listeners, diagnostics: [] };
  const read = readPatches(memo, { selected: view.envoyFilters });
  const inputs = { all: read.value, type: view.proxy.type };
  const mayClash = read.value.listeners.some((patch) => patch.operation === "ADD" || mayMove(patch));
  const matched = [listeners.shared, listeners.own].map((side) => matchedBySide(memo, { ...inputs, listeners: side }));
  const notes = listenerNotes(read.value, matched, memo);
  if (mayClash) {
    const whole = patchedSide(memo, { ...inputs, listeners: wholeList(listeners) });
    return { value: allShared(whole.value), diagnostics: [...read.diagnostics, ...whole.diagnostics, ...notes] };
  }
  const shared = patchedSide(memo, { ...inputs, listeners: listeners.shared });
  const own = patchedSide(memo, { ...inputs, listeners: listeners.own });
  return {
    value: { shared: shared.value, own: own.value },
    diagnostics: [...read.diagnostics, ...shared.diagnostics, ...own.diagnostics, ...notes],
  };
}

/** The patches that have something to change in some listeners as they are before all of them. */
const matchedBySide = query(
  "patches that match listeners",
  ({ all: patches, listeners, type }: ListInputs): ReadonlySet<Patch<unknown>> => {
    const some = (matches: (listener: ListenerJson, patch: Patch<unknown>) => boolean) => (patch: Patch<unknown>) =>
      listeners.some((listener) => hasContext(patch, contextOf(listener, type)) && matches(listener.json, patch));
    const isAdded = ({ operation }: Patch<unknown>): boolean => operation === "ADD";
    const whole = some((listener, patch) => matchesListener(listener, patch, true));
    const place = { context: "SIDECAR_INBOUND", ports: new Map() } as const;
    const hasRoutePatches =
      patches.routeConfigurations.length + patches.virtualHosts.length + patches.routes.length > 0;
    const inbound = listeners.filter((listener) => contextOf(listener, type) === place.context);
    const tables = hasRoutePatches ? inbound.flatMap(({ json }) => tablesIn(json)) : [];
    return new Set<Patch<unknown>>([
      ...patches.listeners.filter((patch) => isAdded(patch) || whole(patch)),
      ...patches.listenerFilters.filter(some(matchesListenerFilter)),
      ...patches.filterChains.filter(some(matchesSomeChain)),
      ...patches.networkFilters.filter(some(matchesSomeFilter)),
      ...patches.httpFilters.filter(some(matchesSomeHttpFilter)),
      ...tables.flatMap((table) => matchedInRoutes(table, place, patches)),
    ]);
  },
);

/** Tables that listeners do not carry are another unit's: of patches of routes only what matches is said here. */
function listenerNotes(
  all: Patches,
  matched: readonly ReadonlySet<Patch<unknown>>[],
  memo: Memo,
): readonly Diagnostic[] {
  // A filter that an earlier patch puts in was not there when the matches were looked for.
  const inserted = new Set([...all.networkFilters, ...all.httpFilters, ...all.listenerFilters].flatMap(nameGiven));
  const isMatched = (patch: Patch<unknown>): boolean =>
    matched.some((patches) => patches.has(patch)) || inserted.has(nameWanted(patch));
  return [
    ...matchNotes(memo, all.listeners, "listener", isMatched),
    ...matchNotes(memo, all.listenerFilters, "listener filter", isMatched),
    ...matchNotes(memo, all.filterChains, "filter chain", isMatched),
    ...matchNotes(memo, all.networkFilters, "network filter", isMatched),
    ...matchNotes(memo, all.httpFilters, "HTTP filter", isMatched),
    ...matchNotes(memo, all.routeConfigurations, undefined, isMatched),
    ...matchNotes(memo, all.virtualHosts, undefined, isMatched),
    ...matchNotes(memo, all.routes, undefined, isMatched),
  ];
}

const nameGiven = ({ operation, value }: Patch<{ readonly name?: string }>): readonly string[] =>
  operation === "MERGE" || operation === "REMOVE" || operation === "REPLACE" || !value.name ? [] : [value.name];

/** Name of the filter that a patch is about; "" where it names none, which is no filter's name. */
const nameWanted = ({ match: { listener } }: Patch<unknown>): string => {
  const filter = listener?.filterChain?.filter;
  return filter?.subFilter?.name ?? filter?.name ?? listener?.listenerFilter ?? "";
};

function contextOf({ json }: ListenerResource, type: ListInputs["type"]): PatchContext {
  if (type === "router") return "GATEWAY";
  return json.trafficDirection === "INBOUND" ? "SIDECAR_INBOUND" : "SIDECAR_OUTBOUND";
}

interface ListInputs {
  readonly all: Patches;
  readonly listeners: readonly ListenerResource[];
  readonly type: ListenerView["proxy"]["type"];
}

/** What classes share is patched once for all that have the same patches. */
const patchedSide = query("patched listeners", patchSide);

/** Sorted by name. */
function patchSide({ all: patches, listeners, type }: ListInputs, memo: Memo): Stage<readonly ListenerResource[]> {
  const diagnostics: Diagnostic[] = [];
  // Without a patch that moves or renames a listener, others are not looked at.
  const neighbours = patches.listeners.some(mayMove) ? listeners : undefined;
  const patched = listeners.flatMap((listener) => {
    const result = patchedListener(memo, { all: patches, neighbours, listener, context: contextOf(listener, type) });
    diagnostics.push(...result.diagnostics);
    return result.value ?? [];
  });
  const contexts: readonly PatchContext[] = type === "router" ? ["GATEWAY"] : ["SIDECAR_OUTBOUND", "SIDECAR_INBOUND"];
  const adding = contexts.flatMap((context) => patches.listeners.filter((patch) => isAddedIn(patch, context)));
  const all = [...patched];
  for (const patch of adding) {
    const { value, key } = patch;
    const [refusal] = [...listenerRefusals(value), ...clashes(value, all)];
    if (refusal === undefined) all.push({ name: value.name ?? "", json: value, from: [key] });
    else diagnostics.push(leftOut(patch, `the listener ${value.name ?? ""}`, refusal));
  }
  return { value: all.sort((a, b) => byCodePoint(a.name, b.name)), diagnostics };
}

/** Whether a patch may give a listener the place of another. */
function mayMove({ operation, value: { name, address, additionalAddresses } }: Patch<ListenerJson>): boolean {
  return operation === "MERGE" && (name !== undefined || address !== undefined || additionalAddresses !== undefined);
}

/** What a listener would share with others and may not. */
function clashes(listener: ListenerJson, others: readonly ListenerResource[]): readonly Refusal[] {
  const addresses = new Set(boundAddresses(listener));
  return others.flatMap(({ name, json }) => [
    ...(name === (listener.name ?? "")
      ? [{ reason: "there is a listener of that name", hint: "merge into it, or give another name" }]
      : []),
    ...(boundAddresses(json).some((address) => addresses.has(address))
      ? [{ reason: `the listener ${name} has its address`, hint: "merge into that one, or give another address" }]
      : []),
  ]);
}

interface Inputs {
  readonly all: Patches;
  /** All listeners, where a patch may give this one the name or the address of another. */
  readonly neighbours: readonly ListenerResource[] | undefined;
  readonly listener: ListenerResource;
  readonly context: PatchContext;
}

/** @returns undefined for a removed listener */
const patchedListener = query("patched listener", patchListener);

function patchListener({ all, neighbours = [], listener, context }: Inputs): Stage<ListenerResource | undefined> {
  const patches = inContext(all, context);
  const others = neighbours.filter((other) => other !== listener);
  const suspects = [
    ...patches.listeners,
    ...[...patches.filterChains, ...patches.networkFilters, ...patches.httpFilters].filter((patch) =>
      matchesListener(listener.json, patch),
    ),
  ];
  const filters = (): readonly Patch<unknown>[] => [...patches.networkFilters, ...patches.httpFilters];
  return applyAcceptable({
    what: `the listener ${listener.name}`,
    suspects,
    isClosed: (patch) => filters().includes(patch) && insertsGuard(patch.operation, patch.value),
    apply: (without) => withPatches(listener, context, withoutPatches(patches, without)),
    refusals: (patched) =>
      patched === undefined || patched === listener
        ? []
        : [...listenerRefusals(patched.json), ...clashes(patched.json, others)],
  });
}

/** @returns undefined for a removed listener */
function withPatches(
  listener: ListenerResource,
  context: PatchContext,
  patches: Patches,
): Stage<ListenerResource | undefined> {
  const diagnostics: Diagnostic[] = [];
  const from: ConfigKey[] = [];
  const copies: Copies = new WeakSet();
  let json = patchInlineTables(listener.json, context, patches, diagnostics);
  for (const patch of patches.listeners) {
    if (!matchesListener(json, patch, true)) continue;
    if (patch.operation === "REMOVE") return { value: undefined, diagnostics };
    if (patch.operation !== "MERGE") continue;
    json = mergeMessage(ListenerSchema, json, patch.value, patch.merge, copies);
    from.push(patch.key);
  }
  json = patchListenerFilters(json, patches.listenerFilters, diagnostics);
  json = patchChains(json, patches, diagnostics);
  if (json === listener.json) return { value: listener, diagnostics };
  const touching = [
    ...patches.listenerFilters,
    ...patches.filterChains,
    ...patches.networkFilters,
    ...patches.httpFilters,
  ];
  const keys = [...from, ...touching.filter((patch) => matchesListener(json, patch)).map((patch) => patch.key)];
  const name = json.name ?? listener.name;
  return { value: { name, json, from: [...listener.from, ...new Set(keys)] }, diagnostics };
}

function inContext(patches: Patches, context: PatchContext): Patches {
  const of = <T>(list: readonly Patch<T>[]): readonly Patch<T>[] => list.filter((patch) => hasContext(patch, context));
  return {
    listeners: of(patches.listeners),
    listenerFilters: of(patches.listenerFilters),
    filterChains: of(patches.filterChains),
    networkFilters: of(patches.networkFilters),
    httpFilters: of(patches.httpFilters),
    routeConfigurations: of(patches.routeConfigurations),
    virtualHosts: of(patches.virtualHosts),
    routes: of(patches.routes),
    clusters: [],
    extensionConfigs: [],
  };
}

function patchListenerFilters(
  listener: ListenerJson,
  patches: readonly Patch<ListenerFilterJson>[],
  diagnostics: Diagnostic[],
): ListenerJson {
  const applying = patches.filter((patch) => matchesListener(listener, patch));
  if (applying.length === 0) return listener;
  const copies: Copies = new WeakSet();
  let filters: readonly ListenerFilterJson[] = listener.listenerFilters ?? [];
  for (const patch of applying) {
    const name = patch.match.listener?.listenerFilter ?? "";
    filters =
      patch.operation === "MERGE"
        ? mergeListenerFilters(filters, patch, name, copies, diagnostics)
        : patchList(filters, patch, { given: name !== "", is: (filter) => filter.name === name });
  }
  const { listenerFilters: _old, ...rest } = listener;
  return filters.length === 0 ? rest : { ...rest, listenerFilters: [...filters] };
}

/**
 * As in Istio, the name only says that there is a merge: it goes into every filter of its type, and renames none.
 * Without a name there is no merge.
 */
function mergeListenerFilters(
  filters: readonly ListenerFilterJson[],
  patch: Patch<ListenerFilterJson>,
  name: string,
  copies: Copies,
  diagnostics: Diagnostic[],
): readonly ListenerFilterJson[] {
  const config = patch.value.typedConfig;
  if (name === "" || config === undefined) return filters;
  return filters.map((filter) => {
    if (filter.typedConfig === undefined) return filter;
    const typedConfig = mergeAny(filter.typedConfig, config, copies);
    if (typedConfig !== undefined) return { ...filter, typedConfig };
    if (filter.name === name) diagnostics.push(unmergeable(patch, name));
    return filter;
  });
}
