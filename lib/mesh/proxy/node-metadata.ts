import type { ProxyConfig } from "../../config/kinds/mesh-config.ts";
import type { ProxyMetadata, ServedSettings } from "./proxy.ts";

type Raw = Readonly<Record<string, unknown>>;

/**
 * Reads the node metadata that changes what is generated. Booleans come as texts (`"true"`, `"1"`), numbers as texts
 * or numbers; what cannot be read counts as absent.
 * @param settings that the node runs with
 * @see docs/how-istio-does-it/nodes.md#metadata
 */
export function metadataOf(raw: Raw, settings: Partial<ProxyConfig>): ProxyMetadata {
  return {
    interceptionMode: interceptionMode(raw.INTERCEPTION_MODE),
    routerMode: textOf(raw.ROUTER_MODE),
    httpProxyPort: numberOf(raw.HTTP_PROXY_PORT),
    http10: isFlagSet(raw.HTTP10),
    idleTimeout: textOf(raw.IDLE_TIMEOUT),
    dnsCapture: isFlagSet(raw.DNS_CAPTURE),
    dnsAutoAllocate: isFlagSet(raw.DNS_AUTO_ALLOCATE),
    unprivilegedPod: isFlagSet(raw.UNPRIVILEGED_POD),
    istioVersion: textOf(raw.ISTIO_VERSION),
    meshId: textOf(raw.MESH_ID),
    statusPort: numberOf(raw.ENVOY_STATUS_PORT),
    prometheusPort: numberOf(raw.ENVOY_PROMETHEUS_PORT),
    inboundExactBalance: isFlagSet(raw.INBOUND_LISTENER_EXACT_BALANCE),
    outboundExactBalance: isFlagSet(raw.OUTBOUND_LISTENER_EXACT_BALANCE),
    networkView: listOf(raw.REQUESTED_NETWORK_VIEW),
    tlsServerFiles: textsWithPrefix(raw, "TLS_SERVER_"),
    tlsClientFiles: textsWithPrefix(raw, "TLS_CLIENT_"),
    proxyConfig: servedSettings(settings),
    raw,
  };
}

function servedSettings({
  connectionSettings,
  gatewayTopology,
  proxyHeaders,
  serviceCluster,
  tracing,
}: Partial<ProxyConfig>): ServedSettings {
  const { customTags, enableIstioTags, maxPathTagLength, sampling } = tracing ?? {};
  return {
    ...(connectionSettings === undefined ? {} : { connectionSettings }),
    ...(gatewayTopology === undefined ? {} : { gatewayTopology }),
    ...(proxyHeaders === undefined ? {} : { proxyHeaders }),
    ...(serviceCluster === undefined ? {} : { serviceCluster }),
    ...(tracing === undefined
      ? {}
      : {
          tracing: {
            ...(customTags === undefined ? {} : { customTags }),
            ...(enableIstioTags === undefined ? {} : { enableIstioTags }),
            ...(maxPathTagLength === undefined ? {} : { maxPathTagLength }),
            ...(sampling === undefined ? {} : { sampling }),
          },
        }),
  };
}

/** A text; "" where there is none. */
export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Booleans come as texts. */
export const isFlagSet = (value: unknown): boolean => value === true || value === "true" || value === "1";

/** A number or its text; 0 for anything else. */
export function numberOf(value: unknown): number {
  const read = typeof value === "number" ? value : typeof value === "string" ? Number.parseInt(value, 10) : 0;
  return Number.isFinite(read) ? read : 0;
}

const none: readonly string[] = [];

/** A list, or a text with commas. */
export function listOf(value: unknown): readonly string[] {
  if (value === undefined || value === "") return none;
  const parts = Array.isArray(value) ? value.filter((part) => typeof part === "string") : textOf(value).split(",");
  return parts.filter((part) => part !== "");
}

const noTexts: Readonly<Record<string, string>> = {};

function textsWithPrefix(raw: Raw, prefix: string): Readonly<Record<string, string>> {
  // Ten thousand proxies have none.
  let texts: Record<string, string> | undefined;
  for (const key in raw) {
    const text = key.startsWith(prefix) ? textOf(raw[key]) : "";
    if (text === "") continue;
    texts ??= {};
    texts[key] = text;
  }
  return texts ?? noTexts;
}

function interceptionMode(value: unknown): ProxyMetadata["interceptionMode"] {
  return value === "TPROXY" || value === "NONE" ? value : "REDIRECT";
}
