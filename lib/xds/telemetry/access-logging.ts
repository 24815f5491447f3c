import type { AccessLogJson } from "../../../gen/envoy/config/accesslog/v3/accesslog_pb.ts";
import { byCodePoint } from "../../base/diagnostic.ts";
import type { AccessLogging } from "../../config/kinds/telemetry.ts";
import type { WorkloadPolicies } from "../../mesh/views/views.ts";
import {
  type AccessLogger,
  expressionFilter,
  filteredLog,
  meshFileAccessLog,
  meshHttpGrpcLog,
  meshListenerGrpcLog,
  meshTcpGrpcLog,
  noChainFilter,
  providerAccessLog,
} from "./access-log.ts";
import type { ProviderLookups } from "./provider-cluster.ts";
import { appliesTo, findProvider, providerNames, type TelemetrySide } from "./telemetry-side.ts";

/** Access logs of one side of a proxy, by where they are written. */
export interface AccessLogs {
  /** Of HTTP connection managers. */
  readonly http: readonly AccessLogJson[];
  /** Of TCP proxies. */
  readonly tcp: readonly AccessLogJson[];
  /** Of listeners themselves: connections that no chain took. */
  readonly listener: readonly AccessLogJson[];
}

/** What Telemetry objects say about one provider. */
interface ProviderLogging {
  readonly disabled: boolean;
  /** CEL; undefined: every line. */
  readonly expression: string | undefined;
}

/**
 * Access logs from Telemetry objects and default providers; without either, from the mesh's own settings.
 * @see docs/how-istio-does-it/telemetry.md#access-logs
 * @see istio 1.30.3 pilot/pkg/networking/core/accesslog.go
 */
export function accessLogs(
  telemetry: WorkloadPolicies["telemetry"],
  side: TelemetrySide,
  lookups: ProviderLookups,
): AccessLogs {
  const logs = telemetryLoggers(telemetry, side, lookups) ?? meshLoggers(lookups);
  return {
    http: logs.http,
    tcp: logs.tcp,
    listener: lookups.mesh.disableEnvoyListenerLog ? [] : logs.listener,
  };
}

function meshLoggers({ mesh }: ProviderLookups): AccessLogs {
  const file = mesh.accessLogFile === "" ? [] : [meshFileAccessLog(mesh, mesh.accessLogFile)];
  const withService = (service: AccessLogger): readonly AccessLogger[] =>
    mesh.enableEnvoyAccessLogService ? [...file, service] : file;
  return {
    http: withService(meshHttpGrpcLog),
    tcp: withService(meshTcpGrpcLog),
    listener: withService(meshListenerGrpcLog).map((logger) => filteredLog(logger, [noChainFilter])),
  };
}

/** undefined: nobody says anything about providers, or none of them is one that logs. */
function telemetryLoggers(
  telemetry: WorkloadPolicies["telemetry"],
  side: TelemetrySide,
  lookups: ProviderLookups,
): AccessLogs | undefined {
  const levels = telemetry.map((object) => object.spec.accessLogging ?? []).filter((rules) => rules.length > 0);
  const defaults = lookups.mesh.defaultProviders.accessLogging ?? [];
  if (levels.length === 0 && defaults.length === 0) return undefined;
  const found = [...mergeLogging(levels, defaults, side)].flatMap(([name, logging]) => {
    const provider = findProvider(lookups.mesh.extensionProviders, name);
    const logger = provider === undefined ? undefined : providerAccessLog(lookups, provider);
    return provider === undefined || logger === undefined ? [] : [{ name: provider.name, logger, logging }];
  });
  // With no provider left at all Istio falls back to the mesh's settings; with disabled ones only it logs nothing.
  if (found.length === 0) return undefined;
  const enabled = found.filter(({ logging }) => !logging.disabled).sort((a, b) => byCodePoint(a.name, b.name));
  const chain = enabled.map(({ logger, logging }) => providerLog(logger, logging, false));
  return {
    http: chain,
    tcp: chain,
    listener: enabled.map(({ logger, logging }) => providerLog(logger, logging, true)),
  };
}

function providerLog(logger: AccessLogger, { expression }: ProviderLogging, ofListener: boolean): AccessLogJson {
  return filteredLog(logger, [
    ...(ofListener ? [noChainFilter] : []),
    ...(expression === undefined ? [] : [expressionFilter(expression)]),
  ]);
}

/**
 * Merges the levels (mesh, namespace, workload) for one side. In scope are the providers of the lowest level that names
 * any; a rule without providers speaks of those of the rule before it; the last rule about a provider wins, but its filter is
 * the last one that a rule naming it gave.
 *
 * @see istio 1.30.3 pilot/pkg/model/telemetry.go, mergeLogs
 */
export function mergeLogging(
  levels: readonly (readonly AccessLogging[])[],
  defaults: readonly string[],
  side: TelemetrySide,
): ReadonlyMap<string, ProviderLogging> {
  const enabled: ProviderLogging = { disabled: false, expression: undefined };
  if (levels.length === 0) return new Map(defaults.map((name) => [name, enabled]));
  const named = levels.map((rules) => rules.filter((rule) => appliesTo(rule.match, side)));
  const inScope = new Set(
    named.map((rules) => rules.flatMap(providerNames)).findLast((names) => names.length > 0) ?? defaults,
  );
  const filters = new Map<string, ProviderLogging>();
  for (const rule of named.flat()) {
    const expression = rule.filter === undefined ? undefined : (rule.filter.expression ?? "");
    for (const name of providerNames(rule)) filters.set(name, { disabled: false, expression });
  }
  const merged = new Map<string, ProviderLogging>();
  let parents = defaults;
  for (const rule of levels.flat()) {
    const own = providerNames(rule);
    parents = own.length === 0 ? parents : own;
    if (!appliesTo(rule.match, side)) continue;
    for (const name of parents.filter((parent) => inScope.has(parent))) {
      merged.set(
        name,
        rule.disabled === true ? { disabled: true, expression: undefined } : (filters.get(name) ?? enabled),
      );
    }
  }
  return merged;
}
