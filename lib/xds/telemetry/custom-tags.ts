import type { CustomTagJson } from "../../../gen/envoy/type/tracing/v3/custom_tag_pb.ts";
import { byCodePoint } from "../../base/diagnostic.ts";
import type { CustomTag } from "../../config/kinds/telemetry.ts";
import type { TracingView } from "../../mesh/views/views.ts";
import { istioVersionAtLeast } from "../istio-version.ts";
import { dryRunShadowPrefix, shadowPolicyKey, shadowResultKey } from "../names.ts";

/** Tags that say what dry-run policies would have decided; empty unless one ran. */
const dryRunTags: readonly CustomTagJson[] = (["allow", "deny"] as const).flatMap((action) => [
  dryRunTag(`istio.authorization.dry_run.${action}_policy.name`, shadowPolicyKey(dryRunShadowPrefix(action))),
  dryRunTag(`istio.authorization.dry_run.${action}_policy.result`, shadowResultKey(dryRunShadowPrefix(action))),
]);

/** The tags that a proxy of this version of Istio knows: older Envoys have none from a format string. */
export function knownTags(
  own: Readonly<Record<string, CustomTag>>,
  istioVersion: string,
): Readonly<Record<string, CustomTag>> {
  if (istioVersionAtLeast(istioVersion, 1, 29)) return own;
  return Object.fromEntries(Object.entries(own).filter(([, { formatter }]) => formatter === undefined));
}

/**
 * Tags of a connection manager's spans, sorted by name.
 * Istio's own are literals about the proxy, which makes them the most personal part of a listener (docs/differences.md).
 */
export function customTags(
  tracing: TracingView,
  istioTags: boolean,
  own: Readonly<Record<string, CustomTag>>,
): CustomTagJson[] {
  const tags = [
    ...(istioTags && isKnown(tracing) ? [...proxyTags(tracing), ...dryRunTags] : []),
    ...Object.entries(own).flatMap(ownTag),
  ];
  return tags.sort((a, b) => byCodePoint(a.tag ?? "", b.tag ?? ""));
}

/** A view that says nothing about the proxy belongs to many of them: its spans, if any, have no literals. */
function isKnown(tracing: TracingView): boolean {
  return Object.values(tracing).some((text) => text !== "");
}

function proxyTags(tracing: TracingView): readonly CustomTagJson[] {
  return [
    literal("istio.canonical_revision", orElse(tracing.canonicalRevision, "latest")),
    literal("istio.canonical_service", orElse(tracing.canonicalName, "unknown")),
    literal("istio.cluster_id", orElse(tracing.clusterId, "unknown")),
    literal("istio.mesh_id", orElse(tracing.meshId, "unknown")),
    literal("istio.namespace", orElse(tracing.namespace, "default")),
  ];
}

function ownTag([tag, { literal: text, environment, header, formatter }]: readonly [
  string,
  CustomTag,
]): CustomTagJson[] {
  if (text !== undefined) return [literal(tag, text.value)];
  if (environment !== undefined) return [{ tag, environment: named(environment) }];
  if (header !== undefined) return [{ tag, requestHeader: named(header) }];
  return formatter === undefined ? [] : [{ tag, value: formatter.value }];
}

function named({ name, defaultValue = "" }: { readonly name: string; readonly defaultValue?: string }): {
  name?: string;
  defaultValue?: string;
} {
  return { ...(name === "" ? {} : { name }), ...(defaultValue === "" ? {} : { defaultValue }) };
}

function literal(tag: string, value: string): CustomTagJson {
  return { tag, literal: value === "" ? {} : { value } };
}

function dryRunTag(tag: string, key: string): CustomTagJson {
  return {
    tag,
    metadata: { kind: { request: {} }, metadataKey: { key: "envoy.filters.http.rbac", path: [{ key }] } },
  };
}

const orElse = (text: string, fallback: string): string => (text === "" ? fallback : text);
