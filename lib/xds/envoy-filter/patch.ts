/**
 * The patches of a class, read: values in canonical form, by what they apply to.
 * @see docs/how-istio-does-it/envoy-filters.md#which-patches
 */
import type { DescMessage, MessageJsonType } from "@bufbuild/protobuf";
import type { ClusterJson } from "../../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type { TypedExtensionConfigJson } from "../../../gen/envoy/config/core/v3/extension_pb.ts";
import type {
  FilterChainJson,
  FilterJson,
  ListenerFilterJson,
} from "../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { ListenerJson } from "../../../gen/envoy/config/listener/v3/listener_pb.ts";
import type { RouteJson, VirtualHostJson } from "../../../gen/envoy/config/route/v3/route_components_pb.ts";
import type { RouteConfigurationJson } from "../../../gen/envoy/config/route/v3/route_pb.ts";
import type { HttpFilterJson } from "../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import type { ConfigKey, Diagnostic, Origin, Stage } from "../../base/diagnostic.ts";
import { keyOf } from "../../config/config.ts";
import { isHarmlessFilter } from "../../config/fail-closed/harmless-patches.ts";
import {
  type ApplyTo,
  type EnvoyConfigObjectMatch,
  filterTargets,
  type PatchContext,
  type PatchOperation,
} from "../../config/kinds/envoy-filter.ts";
import { canonicalMessage } from "../../descriptors/messages.ts";
import { patchMessages } from "../../descriptors/patch-messages.ts";
import { canonicalValue, isFatal } from "../../descriptors/values/canonical-value.ts";
import type { ValueProblem } from "../../descriptors/values/value-problem.ts";
import { query } from "../../incremental/query.ts";
import type { EnvoyFilterPatches, SelectedPatch } from "../../mesh/views/views.ts";
import { denyingFilter } from "../security/authorization.ts";
import type { MergeOptions } from "./merge-message.ts";

/** One patch for one sort of object. */
export interface Patch<T> {
  readonly context: PatchContext;
  readonly operation: Exclude<PatchOperation, "INVALID" | "MERGE_AND_REPLACE_LIST">;
  readonly match: EnvoyConfigObjectMatch;
  /** Empty for REMOVE. */
  readonly value: T;
  readonly merge: MergeOptions;
  readonly key: ConfigKey;
  readonly origin: Origin;
  /** From the root of the EnvoyFilter to this patch. */
  readonly path: Diagnostic["path"];
}

export interface Patches {
  readonly listeners: readonly Patch<ListenerJson>[];
  readonly listenerFilters: readonly Patch<ListenerFilterJson>[];
  readonly filterChains: readonly Patch<FilterChainJson>[];
  readonly networkFilters: readonly Patch<FilterJson>[];
  readonly httpFilters: readonly Patch<HttpFilterJson>[];
  readonly routeConfigurations: readonly Patch<RouteConfigurationJson>[];
  readonly virtualHosts: readonly Patch<VirtualHostJson>[];
  readonly routes: readonly Patch<RouteJson>[];
  readonly clusters: readonly Patch<ClusterJson>[];
  readonly extensionConfigs: readonly Patch<TypedExtensionConfigJson>[];
}

/** Targets that stand in an ordered list; for all others to insert is to add. */
const ordered: ReadonlySet<ApplyTo> = new Set([...filterTargets, "HTTP_ROUTE"]);

/** Every patch, read; a value that is no such message costs its patch. */
export const readPatches = query("patches", ({ selected }: { readonly selected: EnvoyFilterPatches }) =>
  read(selected),
);

function read({ patches }: EnvoyFilterPatches): Stage<Patches> {
  const diagnostics: Diagnostic[] = [];
  const filters = new Map<SelectedPatch["filter"], PatchedBy>();
  const by = (filter: SelectedPatch["filter"]): PatchedBy => {
    const known = filters.get(filter) ?? patchedBy(filter);
    filters.set(filter, known);
    return known;
  };
  const of = <Target extends keyof typeof patchMessages>(
    applyTo: Target,
  ): readonly Patch<MessageJsonType<(typeof patchMessages)[Target]>>[] =>
    patches
      .filter(({ patch }) => patch.applyTo === applyTo)
      .flatMap((selected) => {
        const { value, diagnostics: found } = readPatch(selected, by(selected.filter), patchMessages[applyTo]);
        diagnostics.push(...found);
        return value ?? [];
      });
  const value: Patches = {
    listeners: of("LISTENER"),
    listenerFilters: of("LISTENER_FILTER"),
    filterChains: of("FILTER_CHAIN"),
    networkFilters: of("NETWORK_FILTER"),
    httpFilters: of("HTTP_FILTER"),
    routeConfigurations: of("ROUTE_CONFIGURATION"),
    virtualHosts: of("VIRTUAL_HOST"),
    routes: of("HTTP_ROUTE"),
    clusters: of("CLUSTER"),
    extensionConfigs: of("EXTENSION_CONFIG"),
  };
  return { value, diagnostics };
}

/** What all patches of one EnvoyFilter have in common. */
interface PatchedBy {
  readonly key: ConfigKey;
  /** Places of its patches. */
  readonly places: ReadonlyMap<SelectedPatch["patch"], number>;
}

function patchedBy(filter: SelectedPatch["filter"]): PatchedBy {
  const places = new Map<SelectedPatch["patch"], number>();
  for (const [place, patch] of (filter.spec.configPatches ?? []).entries()) {
    if (!places.has(patch)) places.set(patch, place);
  }
  return { key: keyOf(filter), places };
}

function readPatch<Desc extends DescMessage>(
  { filter, patch }: SelectedPatch,
  { key, places }: PatchedBy,
  schema: Desc,
): Stage<Patch<MessageJsonType<Desc>> | undefined> {
  const path = ["spec", "configPatches", places.get(patch) ?? -1];
  const about = { origin: filter.origin, path: [...path, "patch", "value"] };
  const accepts = filter.spec.acceptsUnknownTypes === true;
  const { json: read, problems } = canonicalValue(schema, patch.patch.value ?? {});
  const refusal = problems.find((problem) => isFatal(problem) || (problem.kind === "unknown-type" && !accepts));
  const closing = refusal === undefined ? undefined : closingFilter(patch);
  const json = refusal === undefined ? read : closing && closingJson(schema, closing);
  const result = closing === undefined ? ", so the patch is left out" : "";
  const refused = refusal === undefined ? [] : [valueRefused(refusal, about, result)];
  if (json === undefined) return { value: undefined, diagnostics: refused };
  if (closing !== undefined) refused.push(filterCloses(about));
  const written = patch.patch.operation;
  const replacesLists = written === "MERGE_AND_REPLACE_LIST";
  // The rules of the kind say that it has no effect there.
  if (replacesLists && filterTargets.has(patch.applyTo)) return { value: undefined, diagnostics: refused };
  const operation = replacesLists ? "MERGE" : written;
  if (operation === "INVALID") return { value: undefined, diagnostics: [] };
  const inserts = operation === "INSERT_BEFORE" || operation === "INSERT_AFTER" || operation === "INSERT_FIRST";
  return {
    value: {
      context: patch.match?.context ?? "ANY",
      operation: inserts && !ordered.has(patch.applyTo) ? "ADD" : operation,
      match: patch.match ?? {},
      value: json,
      merge: { replacesLists },
      key,
      origin: filter.origin,
      path,
    },
    diagnostics: [
      ...refused,
      ...(accepts ? problems : [])
        .filter(({ kind }) => kind === "unknown-type")
        .map((problem) => typePassed(problem, about)),
    ],
  };
}

type About = Pick<Diagnostic, "origin" | "path">;

function valueRefused(
  { kind, path: within, reason, hint }: ValueProblem,
  { origin, path }: About,
  result: string,
): Diagnostic {
  return {
    code: kind === "unknown-type" ? "envoy-filter-unknown-type" : "envoy-filter-value",
    severity: "error",
    origin,
    path: [...path, ...within],
    message: `${reason}${result}`,
    hint: hint === "" ? "compare it with Envoy's API reference" : hint,
  };
}

const typePassed = ({ path: within, reason }: ValueProblem, { origin, path }: About): Diagnostic => ({
  code: "envoy-filter-unknown-type",
  severity: "warning",
  origin,
  path: [...path, ...within],
  message: `${reason}, and is passed on unchecked`,
  hint: "see that the proxies have this extension",
});

export const filterCloses = (about: About): Diagnostic => ({
  code: "security-closed",
  severity: "warning",
  ...about,
  message:
    "the patch inserts a filter that decides which requests pass, so it fails closed: every request there is denied",
  hint: "correct the patch, or delete it",
});

/** @returns undefined where it is none, which nothing that is written here is */
function closingJson<Desc extends DescMessage>(schema: Desc, closing: object): MessageJsonType<Desc> | undefined {
  const made = canonicalMessage(schema, closing);
  return "error" in made ? undefined : made.json;
}

/** What is inserted in place of a filter that decides who may pass and cannot be read; undefined for any other patch. */
function closingFilter({ applyTo, patch: { operation, value } }: SelectedPatch["patch"]): object | undefined {
  if (!insertsGuard(operation, value)) return undefined;
  if (applyTo === "HTTP_FILTER") return denyingFilter("http");
  return applyTo === "NETWORK_FILTER" ? denyingFilter("tcp") : undefined;
}

/** Whether a patch of filters inserts one that may decide which requests pass. */
export const insertsGuard = (operation: PatchOperation, value: unknown): boolean =>
  operation !== "MERGE" && operation !== "MERGE_AND_REPLACE_LIST" && operation !== "REMOVE" && !isHarmlessFilter(value);

const first: Patch<unknown>["operation"] = "INSERT_FIRST";

/** What takes the place of such a patch where it is left out: whoever it matches is denied. */
export const closingPatch = (
  patch: Patch<unknown>,
  protocol: Parameters<typeof denyingFilter>[0],
): Patch<ReturnType<typeof denyingFilter>> => ({
  ...patch,
  operation: first,
  value: denyingFilter(protocol),
});

export function hasContext(patch: Patch<unknown>, context: PatchContext): boolean {
  return patch.context === "ANY" || patch.context === context;
}

/** Whole listeners and clusters: what is meant for any context is added once per proxy, on the outbound side. */
export function isAddedIn(patch: Patch<unknown>, context: PatchContext): boolean {
  return (
    patch.operation === "ADD" &&
    hasContext(patch, context) &&
    !(patch.context === "ANY" && context === "SIDECAR_INBOUND")
  );
}

/** For a merge of two configurations that are not of one type, or of a type without descriptor. */
export function unmergeable(patch: Patch<unknown>, name: string): Diagnostic {
  return {
    code: "envoy-filter-unmergeable",
    severity: "error",
    origin: patch.origin,
    path: [...patch.path, "patch", "value", "typedConfig"],
    message: `the configuration of ${name} is of another type, or of one that is not known, and was left as it is`,
    hint: "give the type of what is patched as @type, or replace it",
  };
}
