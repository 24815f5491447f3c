import type { AccessLogFilterJson, AccessLogJson } from "../../../gen/envoy/config/accesslog/v3/accesslog_pb.ts";
import type { SubstitutionFormatStringJson } from "../../../gen/envoy/config/core/v3/substitution_format_string_pb.ts";
import type { FileAccessLogJson } from "../../../gen/envoy/extensions/access_loggers/file/v3/file_pb.ts";
import type {
  CommonGrpcAccessLogConfigJson,
  HttpGrpcAccessLogConfigJson,
  TcpGrpcAccessLogConfigJson,
} from "../../../gen/envoy/extensions/access_loggers/grpc/v3/als_pb.ts";
import type { OpenTelemetryAccessLogConfigJson } from "../../../gen/envoy/extensions/access_loggers/open_telemetry/v3/logs_service_pb.ts";
import { byCodePoint } from "../../base/diagnostic.ts";
import type { ExtensionProvider } from "../../config/kinds/extension-provider.ts";
import type { MeshConfig } from "../../config/kinds/mesh-config.ts";
import { packAny } from "../core-messages.ts";
import { accessLogServiceCluster, httpLogName, listenerLogName, openTelemetryLogName, tcpLogName } from "../names.ts";
import { defaultLogText, jsonLogFormat, logFormatters, textLogFormat } from "./log-format.ts";
import {
  type ProviderCluster,
  type ProviderLookups,
  providerCluster,
  providerGrpcService,
} from "./provider-cluster.ts";

/** Filter state that Istio's proxies leave about the two peers. */
const peerState = ["upstream_peer", "downstream_peer"];
const peerStateOfAllVersions = [
  ...peerState,
  "wasm.upstream_peer",
  "wasm.upstream_peer_id",
  "wasm.downstream_peer",
  "wasm.downstream_peer_id",
];

/** Name of Istio's built-in file provider, which follows the mesh's format. */
const builtinFileProvider = "envoy";

/** An access logger without a filter. */
export type AccessLogger = Omit<AccessLogJson, "filter">;

/** Lines about connections that no filter chain took: all that a listener's own log is for. */
export const noChainFilter: AccessLogFilterJson = { responseFlagFilter: { flags: ["NR"] } };

/** An expression filter over the stream (CEL). */
export function expressionFilter(expression: string): AccessLogFilterJson {
  return {
    extensionFilter: {
      name: "envoy.access_loggers.extension_filters.cel",
      typedConfig: packAny("envoy.extensions.access_loggers.filters.cel.v3.ExpressionFilter", {
        ...(expression === "" ? {} : { expression }),
      }),
    },
  };
}

/** A logger whose lines must pass all filters. */
export function filteredLog(logger: AccessLogger, filters: readonly AccessLogFilterJson[]): AccessLogJson {
  const [first, ...others] = filters;
  if (first === undefined) return logger;
  return { ...logger, filter: others.length === 0 ? first : { andFilter: { filters: [...filters] } } };
}

/**
 * The logger of an extension provider; undefined for providers that log nothing and for services that nobody knows.
 * @see istio 1.30.3 pilot/pkg/model/telemetry_logging.go, telemetryAccessLog
 */
export function providerAccessLog(lookups: ProviderLookups, provider: ExtensionProvider): AccessLogger | undefined {
  if (provider.envoyFileAccessLog !== undefined) return fileProviderLog(lookups.mesh, provider);
  if (provider.envoyHttpAls !== undefined) {
    const { envoyHttpAls: http } = provider;
    const target = providerCluster(lookups, http);
    return target === undefined
      ? undefined
      : httpGrpcLog({
          commonConfig: grpcCommon(target, http.logName, httpLogName, http.filterStateObjectsToLog),
          ...listField("additionalRequestHeadersToLog", http.additionalRequestHeadersToLog),
          ...listField("additionalResponseHeadersToLog", http.additionalResponseHeadersToLog),
          ...listField("additionalResponseTrailersToLog", http.additionalResponseTrailersToLog),
        });
  }
  if (provider.envoyTcpAls !== undefined) {
    const { envoyTcpAls: tcp } = provider;
    const target = providerCluster(lookups, tcp);
    return target === undefined
      ? undefined
      : tcpGrpcLog({ commonConfig: grpcCommon(target, tcp.logName, tcpLogName, tcp.filterStateObjectsToLog) });
  }
  return provider.envoyOtelAls === undefined ? undefined : openTelemetryLog(lookups, provider.envoyOtelAls);
}

/** The mesh's own log: `accessLogFile` with its format and encoding. */
export function meshFileAccessLog(mesh: MeshConfig, path: string): AccessLogger {
  const { accessLogEncoding, accessLogFormat } = mesh;
  return fileLog(
    path,
    accessLogEncoding === "JSON" ? jsonLogFormat(labelsOf(accessLogFormat)) : textLogFormat(accessLogFormat),
  );
}

/** `enableEnvoyAccessLogService`: HTTP requests to the bootstrap's log service. */
export const meshHttpGrpcLog: AccessLogger = httpGrpcLog({ commonConfig: meshGrpcCommon(httpLogName) });

/** `enableEnvoyAccessLogService`: connections to the bootstrap's log service. */
export const meshTcpGrpcLog: AccessLogger = tcpGrpcLog({ commonConfig: meshGrpcCommon(tcpLogName) });

/** `enableEnvoyAccessLogService`: connections that no chain took. */
export const meshListenerGrpcLog: AccessLogger = tcpGrpcLog({ commonConfig: meshGrpcCommon(listenerLogName) });

function fileProviderLog(mesh: MeshConfig, provider: ExtensionProvider): AccessLogger {
  const { path = "", logFormat, omitEmptyValues = false } = provider.envoyFileAccessLog ?? {};
  if (provider.name === builtinFileProvider && logFormat === undefined && !omitEmptyValues) {
    return meshFileAccessLog(mesh, path);
  }
  const format =
    logFormat?.labels === undefined ? textLogFormat(logFormat?.text ?? "") : jsonLogFormat(logFormat.labels);
  return fileLog(path === "" ? "/dev/stdout" : path, {
    ...format,
    ...(omitEmptyValues ? { omitEmptyValues } : {}),
  });
}

function fileLog(path: string, logFormat: SubstitutionFormatStringJson): AccessLogger {
  const config: FileAccessLogJson = { path, logFormat };
  return {
    name: "envoy.access_loggers.file",
    typedConfig: packAny("envoy.extensions.access_loggers.file.v3.FileAccessLog", config),
  };
}

/** JSON that an operator wrote as a text; what is no JSON object falls back to Istio's own labels, as in Istio. */
function labelsOf(text: string): Readonly<Record<string, unknown>> {
  if (text === "") return {};
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed) ? { ...parsed } : {};
  } catch {
    return {};
  }
}

function grpcCommon(
  target: ProviderCluster,
  logName: string | undefined,
  defaultName: string,
  stateToLog: readonly string[] | undefined,
): CommonGrpcAccessLogConfigJson {
  const objects = stateToLog === undefined || stateToLog.length === 0 ? peerState : stateToLog;
  return {
    logName: logName === undefined || logName === "" ? defaultName : logName,
    grpcService: providerGrpcService(target),
    transportApiVersion: "V3",
    filterStateObjectsToLog: [...objects],
  };
}

function meshGrpcCommon(logName: string): CommonGrpcAccessLogConfigJson {
  return {
    logName,
    grpcService: { envoyGrpc: { clusterName: accessLogServiceCluster } },
    transportApiVersion: "V3",
    filterStateObjectsToLog: [...peerStateOfAllVersions],
  };
}

function httpGrpcLog(config: HttpGrpcAccessLogConfigJson): AccessLogger {
  return {
    name: "envoy.access_loggers.http_grpc",
    typedConfig: packAny("envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig", config),
  };
}

function tcpGrpcLog(config: TcpGrpcAccessLogConfigJson): AccessLogger {
  return {
    name: "envoy.tcp_grpc_access_log",
    typedConfig: packAny("envoy.extensions.access_loggers.grpc.v3.TcpGrpcAccessLogConfig", config),
  };
}

function openTelemetryLog(
  lookups: ProviderLookups,
  provider: NonNullable<ExtensionProvider["envoyOtelAls"]>,
): AccessLogger | undefined {
  const target = providerCluster(lookups, provider);
  if (target === undefined) return undefined;
  const { text = "", labels = {} } = provider.logFormat ?? {};
  const body = text === "" ? defaultLogText : text;
  const attributes = Object.entries(labels).sort(([a], [b]) => byCodePoint(a, b));
  const config: OpenTelemetryAccessLogConfigJson = {
    commonConfig: grpcCommon(target, provider.logName, openTelemetryLogName, peerStateOfAllVersions),
    disableBuiltinLabels: true,
    body: { stringValue: body },
    ...(attributes.length === 0
      ? {}
      : {
          attributes: {
            values: attributes.map(([key, value]) => ({
              key,
              // Only texts have a meaning here; Istio writes the empty one for the rest.
              value: { stringValue: typeof value === "string" ? value : "" },
            })),
          },
        }),
    ...logFormatters(body, labels),
  };
  return {
    name: "envoy.access_loggers.open_telemetry",
    typedConfig: packAny("envoy.extensions.access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig", config),
  };
}

function listField<K extends string>(key: K, values: readonly string[] | undefined): { [key in K]?: string[] } {
  const field: { [key in K]?: string[] } = {};
  if (values !== undefined && values.length > 0) field[key] = [...values];
  return field;
}
