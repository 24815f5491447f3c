import type { Service } from "../registry/service.ts";

/** What a stat name pattern can speak of. */
export interface StatNameParts {
  /** Host name as the cluster has it. */
  readonly hostname: string;
  readonly subset: string;
  readonly port: number;
  readonly portName: string;
  /** Inbound and client-side patterns have no target port: 0; absent leaves the placeholder as it is. */
  readonly targetPort?: number;
  /** Kubernetes services are named shortly; others by their host. */
  readonly service: Service | undefined;
}

/**
 * Fills a pattern of `inboundClusterStatName` or `outboundClusterStatName`.
 * @see docs/how-istio-does-it/telemetry.md#names-of-statistics
 * @see istio 1.30.3 pilot/pkg/networking/telemetry/telemetry.go, BuildStatPrefix
 */
export function statName(pattern: string, parts: StatNameParts): string {
  const attributes = parts.service?.attributes;
  const kubernetes = attributes?.provider === "Kubernetes" ? attributes : undefined;
  const short = kubernetes === undefined ? parts.hostname : `${kubernetes.name}.${kubernetes.namespace}`;
  const values: readonly (readonly [string, string])[] = [
    ["%SERVICE%", short],
    ["%SERVICE_NAME%", kubernetes?.name ?? parts.hostname],
    ["%SERVICE_FQDN%", parts.hostname],
    ["%SUBSET_NAME%", parts.subset],
    ...(parts.targetPort === undefined ? [] : [["%TARGET_PORT%", String(parts.targetPort)] as const]),
    ["%SERVICE_PORT%", String(parts.port)],
    ["%SERVICE_PORT_NAME%", parts.portName],
  ];
  return values.reduce((name, [placeholder, value]) => name.replaceAll(placeholder, () => value), pattern);
}
