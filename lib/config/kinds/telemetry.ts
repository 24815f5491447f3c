import type { PolicyTarget } from "./selector.ts";

/** `telemetry.istio.io` Telemetry. @see https://istio.io/latest/docs/reference/config/telemetry/ */
export interface Telemetry extends PolicyTarget {
  readonly tracing?: readonly Tracing[];
  readonly metrics?: readonly Metrics[];
  readonly accessLogging?: readonly AccessLogging[];
}

/** Telemetry's own mode; absent: CLIENT_AND_SERVER. */
export type TelemetryMode = "CLIENT_AND_SERVER" | "CLIENT" | "SERVER";

export interface ProviderRef {
  readonly name: string;
}

export interface Tracing {
  readonly match?: { readonly mode?: TelemetryMode };
  readonly providers?: readonly ProviderRef[];
  /** Wrapper: 0 is not absent. Percent. */
  readonly randomSamplingPercentage?: number;
  readonly disableSpanReporting?: boolean;
  readonly customTags?: Readonly<Record<string, CustomTag>>;
  readonly useRequestIdForTraceSampling?: boolean;
  readonly enableIstioTags?: boolean;
  readonly disableContextPropagation?: boolean;
}

/** One of the four. */
export interface CustomTag {
  readonly literal?: { readonly value: string };
  readonly environment?: { readonly name: string; readonly defaultValue?: string };
  readonly header?: { readonly name: string; readonly defaultValue?: string };
  readonly formatter?: { readonly value: string };
}

export type Metric =
  | "ALL_METRICS"
  | "REQUEST_COUNT"
  | "REQUEST_DURATION"
  | "REQUEST_SIZE"
  | "RESPONSE_SIZE"
  | "TCP_OPENED_CONNECTIONS"
  | "TCP_CLOSED_CONNECTIONS"
  | "TCP_SENT_BYTES"
  | "TCP_RECEIVED_BYTES"
  | "GRPC_REQUEST_MESSAGES"
  | "GRPC_RESPONSE_MESSAGES";

export interface Metrics {
  readonly providers?: readonly ProviderRef[];
  readonly overrides?: readonly MetricsOverrides[];
  readonly reportingInterval?: string;
}

export interface MetricsOverrides {
  readonly match?: MetricSelector;
  readonly disabled?: boolean;
  readonly tagOverrides?: Readonly<Record<string, TagOverride>>;
}

/** At most one of `metric` and `customMetric`. */
export interface MetricSelector {
  readonly metric?: Metric;
  readonly customMetric?: string;
  readonly mode?: TelemetryMode;
}

export interface TagOverride {
  /** Absent: UPSERT. */
  readonly operation?: "UPSERT" | "REMOVE";
  /** CEL expression. */
  readonly value?: string;
}

export interface AccessLogging {
  readonly match?: { readonly mode?: TelemetryMode };
  readonly providers?: readonly ProviderRef[];
  readonly disabled?: boolean;
  /** CEL expression. */
  readonly filter?: { readonly expression?: string };
}
