import { error, type Finding, type Path, warning } from "../../finding.ts";
import type { ConnectionPoolSettings, OutlierDetection, TrafficPolicy } from "../../kinds/destination-rule.ts";
import { isIpAddress } from "../../values/ip-address.ts";
import { isFqdn } from "../names.ts";
import { clientTlsRules } from "../tls/client-tls.ts";
import { each, notNegative, percentRules, portRules } from "../values.ts";
import { loadBalancerRules } from "./load-balancer.ts";

/** A traffic policy of a rule or of a subset. @see docs/how-istio-does-it/validation.md#traffic-policies */
export function* trafficPolicyRules(
  policy: TrafficPolicy | undefined,
  path: Path,
  namespace: string,
): Generator<Finding> {
  if (policy === undefined) return;
  if (Object.keys(policy).length === 0) {
    yield error(path, "is empty", "give at least one of its fields, or leave it out", "missing-field");
    return;
  }
  if (policy.tunnel !== undefined && policy.proxyProtocol !== undefined) {
    yield error(path, "tunnel and proxyProtocol exclude each other", "keep one of them", "conflicting-fields");
    return;
  }
  yield* levelRules(policy, path, namespace);
  const { tunnel } = policy;
  if (tunnel !== undefined) {
    const at = [...path, "tunnel"];
    if (tunnel.protocol !== undefined && tunnel.protocol !== "CONNECT" && tunnel.protocol !== "POST") {
      yield error([...at, "protocol"], `${JSON.stringify(tunnel.protocol)} is neither CONNECT nor POST`);
    }
    if (!isFqdn(tunnel.targetHost) && !isIpAddress(tunnel.targetHost)) {
      yield error(
        [...at, "targetHost"],
        `${JSON.stringify(tunnel.targetHost)} is neither a domain name nor an IP address`,
      );
    }
    yield* portRules(tunnel.targetPort, [...at, "targetPort"]);
  }
  yield* percentRules(policy.retryBudget?.percent, [...path, "retryBudget", "percent"]);
  const maxPortLevels = 4096;
  if ((policy.portLevelSettings?.length ?? 0) > maxPortLevels) {
    yield error([...path, "portLevelSettings"], `has more than ${maxPortLevels} entries`);
  }
  yield* each(policy.portLevelSettings, [...path, "portLevelSettings"], function* (level, at) {
    const { port, ...rest } = level;
    yield* portRules(port.number ?? 0, [...at, "port", "number"]);
    if (Object.keys(rest).length === 0) {
      yield error(at, "sets nothing for its port", "give at least one of its fields", "missing-field");
    }
    yield* levelRules(level, at, namespace);
  });
}

type Level = Pick<TrafficPolicy, "loadBalancer" | "connectionPool" | "outlierDetection" | "tls">;

function* levelRules(level: Level, path: Path, namespace: string): Generator<Finding> {
  const { loadBalancer, connectionPool, outlierDetection, tls } = level;
  yield* outlierDetectionRules(outlierDetection, [...path, "outlierDetection"]);
  yield* connectionPoolRules(connectionPool, [...path, "connectionPool"]);
  yield* loadBalancerRules(loadBalancer, [...path, "loadBalancer"], outlierDetection !== undefined);
  yield* clientTlsRules(tls, [...path, "tls"], namespace);
}

export function* connectionPoolRules(pool: ConnectionPoolSettings | undefined, path: Path): Generator<Finding> {
  if (pool === undefined) return;
  const { tcp, http } = pool;
  if (tcp === undefined && http === undefined) yield error(path, "needs tcp or http", "", "missing-field");
  if (tcp !== undefined) {
    yield* notNegative(tcp.maxConnections, [...path, "tcp", "maxConnections"]);
    if (tcp.idleTimeout?.startsWith("-")) yield error([...path, "tcp", "idleTimeout"], "must not be negative");
  }
  if (http === undefined) return;
  const at = [...path, "http"];
  for (const name of [
    "http1MaxPendingRequests",
    "http2MaxRequests",
    "maxRequestsPerConnection",
    "maxRetries",
    "maxConcurrentStreams",
  ] as const) {
    yield* notNegative(http[name], [...at, name]);
  }
  if (http.h2UpgradePolicy === "UPGRADE" && http.useClientProtocol === true) {
    yield error(
      [...at, "useClientProtocol"],
      "excludes h2UpgradePolicy UPGRADE",
      "keep one of them",
      "conflicting-fields",
    );
  }
  if (http.http2KeepAlive !== undefined) {
    for (const name of ["interval", "timeout"] as const) {
      if (http.http2KeepAlive[name] === undefined) {
        yield error([...at, "http2KeepAlive", name], "is required", "", "missing-field");
      }
    }
  }
}

export function* outlierDetectionRules(outlier: OutlierDetection | undefined, path: Path): Generator<Finding> {
  if (outlier === undefined) return;
  if (outlier.consecutiveErrors !== undefined) {
    yield warning(
      [...path, "consecutiveErrors"],
      "has no effect any more",
      "use consecutive5xxErrors or consecutiveGatewayErrors",
    );
  }
  if ((outlier.consecutiveLocalOriginFailures ?? 0) > 0 && outlier.splitExternalLocalOriginErrors !== true) {
    const hint = "set splitExternalLocalOriginErrors to true";
    yield error(
      [...path, "consecutiveLocalOriginFailures"],
      "has no meaning without splitExternalLocalOriginErrors",
      hint,
    );
  }
  yield* percentRules(outlier.maxEjectionPercent, [...path, "maxEjectionPercent"]);
  yield* percentRules(outlier.minHealthPercent, [...path, "minHealthPercent"]);
  yield* percentRules(outlier.failurePercentageThreshold, [...path, "failurePercentageThreshold"]);
  yield* each(
    outlier.outlierDetectionHttpErrorCodes,
    [...path, "outlierDetectionHttpErrorCodes"],
    function* (code, at) {
      if (code < 100 || code > 599) yield error(at, `${code} is not between 100 and 599`);
    },
  );
}
