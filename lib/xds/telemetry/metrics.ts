import { byCodePoint } from "../../base/diagnostic.ts";
import type { ExtensionProvider } from "../../config/kinds/extension-provider.ts";
import type { Metric, MetricSelector, Metrics, TagOverride } from "../../config/kinds/telemetry.ts";
import { providerNames, type TelemetrySide } from "./telemetry-side.ts";

/** What is changed of one metric. */
export interface MetricChange {
  /** One of Istio's, or any other. */
  readonly metric: string;
  readonly disabled: boolean;
  /** By name, sorted. */
  readonly tags: readonly (readonly [string, TagOverride])[];
}

/** The metrics that one provider is to make on one side of a proxy. */
export interface ProviderMetrics {
  /** By the metric's name, sorted. */
  readonly changes: readonly MetricChange[];
  /** Between two reports of a TCP connection; undefined: as usual. */
  readonly reportingInterval: string | undefined;
}

const metricNames = [
  "GRPC_REQUEST_MESSAGES",
  "GRPC_RESPONSE_MESSAGES",
  "REQUEST_COUNT",
  "REQUEST_DURATION",
  "REQUEST_SIZE",
  "RESPONSE_SIZE",
  "TCP_CLOSED_CONNECTIONS",
  "TCP_OPENED_CONNECTIONS",
  "TCP_RECEIVED_BYTES",
  "TCP_SENT_BYTES",
] as const satisfies readonly Metric[];

/** Of a provider, while rules are gone through. */
interface Merged {
  changes: Map<string, { disabled: boolean; readonly tags: Map<string, TagOverride> }>;
  /** Everything is off, whatever is said of single metrics. */
  off: boolean;
  reportingInterval: string | undefined;
}

/**
 * Merges what the mesh, the namespace and the workload say of metrics, for one side. In scope are the providers of the last rule
 * that names any; a rule without providers speaks of those of the rule before it.
 *
 * @param rules lowest priority first
 * @param defaults providers of the mesh's settings
 * @returns by provider, sorted; without those that are switched off on this side
 * @see docs/how-istio-does-it/telemetry.md#metrics
 * @see istio 1.30.3 pilot/pkg/model/telemetry.go, mergeMetrics
 */
export function mergeMetrics(
  rules: readonly Metrics[],
  defaults: readonly string[],
  side: TelemetrySide,
): ReadonlyMap<string, ProviderMetrics> {
  const providers = new Map<string, Merged>();
  if (rules.length === 0) for (const name of defaults) providers.set(name, nothingMerged());
  const inScope = new Set(rules.map(providerNames).findLast((names) => names.length > 0) ?? defaults);
  let parents = defaults;
  for (const rule of rules) {
    const own = providerNames(rule);
    parents = own.length === 0 ? parents : own;
    for (const name of parents) {
      if (!inScope.has(name)) continue;
      const merged = providers.get(name) ?? nothingMerged();
      providers.set(name, merged);
      merge(merged, rule, side);
    }
  }
  const left = [...providers].filter(([, { off }]) => !off).sort(([a], [b]) => byCodePoint(a, b));
  return new Map(left.map(([name, merged]) => [name, ofProvider(merged)]));
}

const nothingMerged = (): Merged => ({ changes: new Map(), off: false, reportingInterval: undefined });

function merge(merged: Merged, { overrides = [], reportingInterval }: Metrics, side: TelemetrySide): void {
  merged.reportingInterval = reportingInterval ?? merged.reportingInterval;
  for (const { match, disabled, tagOverrides = {} } of overrides) {
    const mode = match?.mode ?? "CLIENT_AND_SERVER";
    if (mode !== "CLIENT_AND_SERVER" && mode !== side) continue;
    // What is said of all metrics and switches them off takes the filter away; any later word about one brings it back.
    merged.off = disabled === true && isAboutAll(match);
    if (merged.off) continue;
    for (const name of namesOf(match)) {
      const change = merged.changes.get(name) ?? { disabled: false, tags: new Map() };
      merged.changes.set(name, change);
      change.disabled = disabled ?? change.disabled;
      for (const [tag, override] of Object.entries(tagOverrides)) change.tags.set(tag, override);
    }
  }
}

function ofProvider({ changes, reportingInterval }: Merged): ProviderMetrics {
  return {
    changes: [...changes]
      .sort(([a], [b]) => byCodePoint(a, b))
      .map(([metric, { disabled, tags }]) => ({
        metric,
        disabled,
        tags: [...tags].sort(([a], [b]) => byCodePoint(a, b)),
      })),
    reportingInterval,
  };
}

const isAboutAll = (match: MetricSelector | undefined): boolean =>
  match?.customMetric === undefined && (match?.metric ?? "ALL_METRICS") === "ALL_METRICS";

function namesOf(match: MetricSelector | undefined): readonly string[] {
  if (match?.customMetric !== undefined) return [match.customMetric];
  return match?.metric === undefined || match.metric === "ALL_METRICS" ? metricNames : [match.metric];
}

/** Whether a provider's metrics are made by proxies. */
export const isPrometheus = (provider: ExtensionProvider | undefined): boolean => provider?.prometheus !== undefined;
