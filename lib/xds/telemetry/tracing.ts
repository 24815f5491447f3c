import type { HttpConnectionManager_TracingJson } from "../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import type { ExtensionProvider } from "../../config/kinds/extension-provider.ts";
import type { CustomTag, Tracing } from "../../config/kinds/telemetry.ts";
import type { ReleaseRules } from "../../mesh/release-rules.ts";
import type { WorkloadPolicies } from "../../mesh/views/views.ts";
import { istioVersionAtLeast } from "../istio-version.ts";
import { customTags, knownTags } from "./custom-tags.ts";
import type { ScopedProviders } from "./provider-cluster.ts";
import { appliesTo, findProvider, providerNames, type TelemetrySide } from "./telemetry-side.ts";
import { type Tracer, type TracingProxy, tracerOf } from "./tracing-provider.ts";

/** What a connection manager needs to know about tracing. */
export interface ConnectionTracing {
  /** undefined: nothing is traced. */
  readonly tracing: HttpConnectionManager_TracingJson | undefined;
  readonly useRequestIdForTraceSampling: boolean;
}

/** What Telemetry objects say about one side; later ones win, field by field. */
interface TracingSettings {
  readonly provider: ExtensionProvider | undefined;
  readonly disabled: boolean;
  readonly samplingPercent: number | undefined;
  readonly customTags: Readonly<Record<string, CustomTag>>;
  readonly istioTags: boolean;
  readonly requestIdForSampling: boolean;
  readonly disableContextPropagation: boolean;
}

/** Percentage of requests when nobody says one. */
const defaultSamplingPercent = 1;

const untraced: ConnectionTracing = { tracing: undefined, useRequestIdForTraceSampling: true };

/**
 * Tracing from Telemetry objects and the default provider; without either, from the mesh: sampling and tags, and no
 * tracer, so that Envoy takes the one of its bootstrap.
 *
 * @see docs/how-istio-does-it/telemetry.md#tracing
 * @see istio 1.30.3 pilot/pkg/networking/core/tracing.go, configureTracingFromTelemetry
 */
export function connectionTracing(
  telemetry: WorkloadPolicies["telemetry"],
  view: TracingProxy,
  side: TelemetrySide,
  lookups: ScopedProviders,
): ConnectionTracing {
  const rules = telemetry.flatMap((object) => object.spec.tracing ?? []);
  const { mesh } = lookups;
  const [defaultProvider] = mesh.defaultProviders.tracing ?? [];
  if (rules.length === 0 && defaultProvider === undefined) return mesh.enableTracing ? meshTracing(view) : untraced;
  const settings = mergeTracing(rules, mesh.extensionProviders, defaultProvider, side);
  if (settings.disabled || settings.provider === undefined) return untraced;
  const tracer = tracerOf(settings.provider, view, lookups);
  if (tracer === undefined) return untraced;
  return {
    tracing: providerTracing(view, settings, tracer, mesh.rules),
    useRequestIdForTraceSampling: settings.requestIdForSampling,
  };
}

function meshTracing(view: TracingProxy): ConnectionTracing {
  const own = view.proxy.proxyConfig.tracing;
  const tags = customTags(view.tracing, own?.enableIstioTags ?? true, own?.customTags ?? {});
  return {
    tracing: { ...sampling(proxySamplingPercent(view)), ...tagField(tags), ...pathTagLength(own?.maxPathTagLength) },
    useRequestIdForTraceSampling: true,
  };
}

function providerTracing(
  view: TracingProxy,
  settings: TracingSettings,
  tracer: Tracer,
  { spawnsUpstreamSpans }: Pick<ReleaseRules, "spawnsUpstreamSpans">,
): HttpConnectionManager_TracingJson {
  const own = view.proxy.proxyConfig.tracing;
  const percent = tracer.samplesItself ? 100 : (settings.samplingPercent ?? proxySamplingPercent(view));
  const ownTags = Object.keys(settings.customTags).length === 0 ? (own?.customTags ?? {}) : settings.customTags;
  const tags = customTags(view.tracing, settings.istioTags, knownTags(ownTags, view.proxy.istioVersion));
  const childSpan = tracer.spawnsUpstreamSpan || (spawnsUpstreamSpans && view.proxy.type === "router");
  const noPropagation = settings.disableContextPropagation && istioVersionAtLeast(view.proxy.istioVersion, 1, 30);
  return {
    ...sampling(percent),
    ...tagField(tags),
    ...pathTagLength(tracer.maxPathTagLength === 0 ? own?.maxPathTagLength : tracer.maxPathTagLength),
    ...(childSpan ? { spawnUpstreamSpan: true } : {}),
    ...(noPropagation ? { noContextPropagation: true } : {}),
    provider: tracer.provider,
  };
}

/** @see istio 1.30.3 pilot/pkg/model/telemetry.go, Tracing */
function mergeTracing(
  rules: readonly Tracing[],
  providers: readonly ExtensionProvider[],
  defaultProvider: string | undefined,
  side: TelemetrySide,
): TracingSettings {
  const initial: TracingSettings = {
    provider: defaultProvider === undefined ? undefined : findProvider(providers, defaultProvider),
    disabled: false,
    samplingPercent: undefined,
    customTags: {},
    istioTags: true,
    requestIdForSampling: true,
    disableContextPropagation: false,
  };
  return rules
    .filter((rule) => appliesTo(rule.match, side))
    .reduce<TracingSettings>((settings, rule) => {
      // One tracer a side: the first that a rule names.
      const [name] = providerNames(rule);
      return {
        provider: name === undefined ? settings.provider : findProvider(providers, name),
        disabled: rule.disableSpanReporting ?? settings.disabled,
        samplingPercent: rule.randomSamplingPercentage ?? settings.samplingPercent,
        customTags: rule.customTags ?? settings.customTags,
        istioTags: rule.enableIstioTags ?? settings.istioTags,
        requestIdForSampling: rule.useRequestIdForTraceSampling ?? settings.requestIdForSampling,
        disableContextPropagation: rule.disableContextPropagation ?? settings.disableContextPropagation,
      };
    }, initial);
}

function proxySamplingPercent({ proxy }: TracingProxy): number {
  const percent = proxy.proxyConfig.tracing?.sampling ?? 0;
  return percent === 0 || percent > 100 ? defaultSamplingPercent : percent;
}

function sampling(percent: number): HttpConnectionManager_TracingJson {
  return {
    clientSampling: { value: 100 },
    overallSampling: { value: 100 },
    randomSampling: percent === 0 ? {} : { value: percent },
  };
}

function tagField(tags: HttpConnectionManager_TracingJson["customTags"]): HttpConnectionManager_TracingJson {
  return tags === undefined || tags.length === 0 ? {} : { customTags: tags };
}

function pathTagLength(length: number | undefined): HttpConnectionManager_TracingJson {
  return length === undefined || length === 0 ? {} : { maxPathTagLength: length };
}
