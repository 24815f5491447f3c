/** EnvoyFilter on clusters. @see docs/how-istio-does-it/envoy-filters.md#operations */
import { type ClusterJson, ClusterSchema } from "../../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type { TransportSocketJson } from "../../../gen/envoy/config/core/v3/base_pb.ts";
import { byCodePoint, type ConfigKey, type Diagnostic, type Stage } from "../../base/diagnostic.ts";
import type { PatchContext } from "../../config/kinds/envoy-filter.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { OwnClusterView } from "../../mesh/views/views.ts";
import { inboundPassthroughCluster, isKeyServerCluster, parseClusterName } from "../names.ts";
import { allShared, ownBeside, type Parted, type Resource } from "../resource.ts";
import { leftOut, type Refusal } from "./leave-out.ts";
import { matchNotes } from "./match-notes.ts";
import { type Copies, mergeAny, mergeMessage } from "./merge-message.ts";
import { hasContext, isAddedIn, type Patch, readPatches, unmergeable } from "./patch.ts";

type ClusterResource = Resource<ClusterJson>;
type ClusterPatch = Patch<ClusterJson>;

/**
 * @returns of two clusters of one name, outbound ones come before added ones, inbound ones last; a patch that would add or rename one
 * to a name that is taken is left out and said
 */
export function applyClusterPatches(
  view: OwnClusterView,
  { shared, own }: Parted<ClusterResource>,
  memo: Memo,
): Stage<Parted<ClusterResource>> {
  if (view.patches.patches.length === 0) return { value: { shared, own }, diagnostics: [] };
  const read = readPatches(memo, { selected: view.patches });
  const patches = read.value.clusters;
  const { type } = view.proxy;
  const ofShared = patchedShared(memo, { patches, clusters: shared, type: view.proxy.type });
  const ofOwn = patchedAll(own, patches, (name) => [ownContext(name, type), hostsBehind(view, name)], memo);
  const isMatched = (patch: ClusterPatch): boolean =>
    patch.operation === "ADD" ||
    matchedShared(memo, { patches, clusters: shared, type: view.proxy.type }).has(patch) ||
    own.some(
      ({ name, json }) => hasContext(patch, ownContext(name, type)) && matches(json, patch, hostsBehind(view, name)),
    );
  const notes = matchNotes(memo, patches, "cluster", isMatched);
  const diagnostics = [...read.diagnostics, ...ofShared.diagnostics, ...ofOwn.diagnostics, ...notes];
  const taken = givenNames(memo, { patched: ofShared.value });
  const mayClash = ofOwn.value.some(({ resource, named }) => named !== undefined || taken.has(resource.name));
  if (mayClash) {
    const all = settled(memo, { patched: [...ofShared.value, ...ofOwn.value] });
    return { value: allShared(all.value), diagnostics: [...diagnostics, ...all.diagnostics] };
  }
  const all = settled(memo, { patched: ofShared.value });
  const others = ofOwn.value.map(({ resource }) => resource);
  return {
    value: { shared: all.value, own: ownBeside({ shared: all.value, others }, memo) },
    diagnostics: [...diagnostics, ...all.diagnostics],
  };
}

interface SharedInputs {
  readonly patches: readonly ClusterPatch[];
  readonly clusters: readonly ClusterResource[];
  readonly type: OwnClusterView["proxy"]["type"];
}

/** What classes share is patched once for all that have the same patches. */
const patchedShared = query(
  "patched shared clusters",
  ({ patches, clusters, type }: SharedInputs, memo: Memo): Stage<readonly PatchedCluster[]> => {
    const contexts: readonly PatchContext[] = type === "router" ? ["GATEWAY"] : ["SIDECAR_OUTBOUND", "SIDECAR_INBOUND"];
    const there = patchedAll(clusters, patches, (name) => [sharedContext(name, type), []], memo);
    const adding = contexts.flatMap((context) => patches.filter((patch) => isAddedIn(patch, context)).map(added));
    return { value: [...there.value, ...adding], diagnostics: there.diagnostics };
  },
);

/** The patches that have something to change in clusters that classes share. */
const matchedShared = query(
  "patches that match shared clusters",
  ({ patches, clusters, type }: SharedInputs): ReadonlySet<ClusterPatch> =>
    new Set(
      patches.filter((patch) =>
        clusters.some(({ name, json }) => hasContext(patch, sharedContext(name, type)) && matches(json, patch, [])),
      ),
    ),
);

/** Whom a proxy asks for keys outside of the mesh is reached outbound, though others need not have the cluster. */
const ownContext = (name: string, type: SharedInputs["type"]): PatchContext =>
  isKeyServerCluster(name) ? sharedContext(name, type) : "SIDECAR_INBOUND";

function sharedContext(name: string, type: SharedInputs["type"]): PatchContext {
  if (type === "router") return "GATEWAY";
  return name === inboundPassthroughCluster ? "SIDECAR_INBOUND" : "SIDECAR_OUTBOUND";
}

function patchedAll(
  clusters: readonly ClusterResource[],
  patches: readonly ClusterPatch[],
  placeOf: (name: string) => readonly [PatchContext, hosts: readonly string[]],
  memo: Memo,
): Stage<readonly PatchedCluster[]> {
  const diagnostics: Diagnostic[] = [];
  const value = clusters.flatMap((cluster) => {
    const [context, hosts] = placeOf(cluster.name);
    const result = patchedCluster(memo, { patches, cluster, context, hosts });
    diagnostics.push(...result.diagnostics);
    return result.value ?? [];
  });
  return { value, diagnostics };
}

type Patched = { readonly patched: readonly PatchedCluster[] };

/** Names that patches give. */
const givenNames = query(
  "given names of clusters",
  ({ patched }: Patched): ReadonlySet<string> =>
    new Set(patched.flatMap(({ resource, named }) => (named === undefined ? [] : [resource.name]))),
);

const settled = query("clusters with names of their own", ({ patched }: Patched): Stage<readonly ClusterResource[]> => {
  const diagnostics: Diagnostic[] = [];
  const value = withOwnNames(patched, diagnostics).toSorted((a, b) => byCodePoint(a.name, b.name));
  return { value, diagnostics };
});

interface PatchedCluster {
  readonly resource: ClusterResource;
  /** What gave it its name, if a patch did, and the name before; undefined for one that is new. */
  readonly named?: { readonly patch: ClusterPatch; readonly before: string | undefined };
}

/** Those that kept their names keep them; a patch that gives a name that is taken gives none, and adds nothing. */
function withOwnNames(all: readonly PatchedCluster[], diagnostics: Diagnostic[]): readonly ClusterResource[] {
  const byName = new Map<string, ClusterResource>();
  for (const { resource, named } of all) {
    if (named === undefined && !byName.has(resource.name)) byName.set(resource.name, resource);
  }
  for (const { resource, named } of all) {
    if (named === undefined) continue;
    if (!byName.has(resource.name)) {
      byName.set(resource.name, resource);
      continue;
    }
    diagnostics.push(leftOut(named.patch, `the cluster ${resource.name}`, nameTaken));
    const { before } = named;
    if (before !== undefined)
      byName.set(before, { ...resource, name: before, json: { ...resource.json, name: before } });
  }
  return [...byName.values()];
}

const nameTaken: Refusal = {
  reason: "there is another cluster of that name",
  hint: "merge into that cluster, or give another name",
};

function added(patch: ClusterPatch): PatchedCluster {
  const { value, key } = patch;
  return { resource: { name: value.name ?? "", json: value, from: [key] }, named: { patch, before: undefined } };
}

/** Services that an inbound cluster leads to: its name has the port only. */
function hostsBehind(view: OwnClusterView, name: string): readonly string[] {
  const port = parseClusterName(name)?.port;
  return view.inbound.targets.filter((target) => target.targetPort === port).map((target) => target.service.hostname);
}

interface Inputs {
  readonly patches: readonly ClusterPatch[];
  readonly cluster: ClusterResource;
  readonly context: PatchContext;
  /** Of the services that an inbound cluster leads to. */
  readonly hosts: readonly string[];
}

/** @returns undefined for a removed cluster */
const patchedCluster = query("patched cluster", { hosts: "value" }, patchCluster);

function patchCluster({ patches, cluster, context, hosts }: Inputs): Stage<PatchedCluster | undefined> {
  const applying = patches.filter((patch) => hasContext(patch, context));
  if (applying.some((patch) => patch.operation === "REMOVE" && matches(cluster.json, patch, hosts))) {
    return { value: undefined, diagnostics: [] };
  }
  const diagnostics: Diagnostic[] = [];
  const from: ConfigKey[] = [];
  const copies: Copies = new WeakSet();
  let json = cluster.json;
  let namedBy: ClusterPatch | undefined;
  for (const patch of applying) {
    if (patch.operation !== "MERGE" || !matches(json, patch, hosts)) continue;
    const { name: nameBefore } = json;
    const merged = mergeCluster(json, patch, copies);
    if (merged === undefined) {
      diagnostics.push(unmergeable(patch, `the transport socket of ${cluster.name}`));
      continue;
    }
    if (merged.name !== nameBefore) namedBy = patch;
    json = merged;
    from.push(patch.key);
  }
  if (from.length === 0) return { value: { resource: cluster }, diagnostics };
  const resource = { name: json.name ?? cluster.name, json, from: [...cluster.from, ...new Set(from)] };
  const named = namedBy && { named: { patch: namedBy, before: cluster.name } };
  return { value: { resource, ...named }, diagnostics };
}

function matches(cluster: ClusterJson, { match }: ClusterPatch, hosts: readonly string[]): boolean {
  const wanted = match.cluster;
  if (wanted === undefined) return true;
  const name = cluster.name ?? "";
  if (wanted.name) return wanted.name === name;
  const parts = parseClusterName(name) ?? { direction: "outbound", port: 0, subset: "", host: "" };
  const services = parts.direction === "inbound" && hosts.length > 0 ? hosts : [parts.host];
  return (
    (!wanted.subset || wanted.subset === parts.subset) &&
    (!wanted.service || services.includes(wanted.service)) &&
    (!wanted.portNumber || wanted.portNumber === parts.port)
  );
}

/**
 * A transport socket in the patch speaks for the whole patch: it goes into the socket of the same name, or takes the place of the
 * only one; where sockets are chosen by endpoint and none has its name, the patch is dropped.
 *
 * @returns undefined when two sockets of one name cannot be merged
 */
function mergeCluster(cluster: ClusterJson, { value, merge }: ClusterPatch, copies: Copies): ClusterJson | undefined {
  const socket = value.transportSocket;
  if (socket === undefined) return mergeMessage(ClusterSchema, cluster, value, merge, copies);
  const mergeSocket = (own: TransportSocketJson): TransportSocketJson | undefined => {
    if (own.typedConfig === undefined || socket.typedConfig === undefined) return own;
    const typedConfig = mergeAny(own.typedConfig, socket.typedConfig, copies);
    return typedConfig && { ...own, typedConfig };
  };
  const choices = cluster.transportSocketMatches ?? [];
  if (choices.length > 0) {
    const at = choices.findIndex((choice) => choice.transportSocket?.name === socket.name);
    const own = choices[at];
    if (own?.transportSocket === undefined) return cluster;
    const transportSocket = mergeSocket(own.transportSocket);
    return transportSocket && { ...cluster, transportSocketMatches: choices.with(at, { ...own, transportSocket }) };
  }
  const own = cluster.transportSocket;
  if (own === undefined || own.name !== socket.name) return { ...cluster, transportSocket: socket };
  const transportSocket = mergeSocket(own);
  return transportSocket && { ...cluster, transportSocket };
}
