import type { TypedExtensionConfigJson } from "../../../gen/envoy/config/core/v3/extension_pb.ts";
import type { SubstitutionFormatStringJson } from "../../../gen/envoy/config/core/v3/substitution_format_string_pb.ts";
import { packAny } from "../core-messages.ts";

/** JSON as operators write it for labels: any depth. */
type JsonObject = NonNullable<SubstitutionFormatStringJson["jsonFormat"]>;

/**
 * Istio's access log line. An operator-visible format, so it is given as it is.
 * @see docs/how-istio-does-it/telemetry.md#formats
 */
export const defaultLogText = `${[
  "[%START_TIME%]",
  '"%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%"',
  "%RESPONSE_CODE% %RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS% %CONNECTION_TERMINATION_DETAILS%",
  '"%UPSTREAM_TRANSPORT_FAILURE_REASON%" %BYTES_RECEIVED% %BYTES_SENT% %DURATION%',
  "%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)%",
  '"%REQ(X-FORWARDED-FOR)%" "%REQ(USER-AGENT)%" "%REQ(X-REQUEST-ID)%" "%REQ(:AUTHORITY)%" "%UPSTREAM_HOST%"',
  "%UPSTREAM_CLUSTER_RAW% %UPSTREAM_LOCAL_ADDRESS% %DOWNSTREAM_LOCAL_ADDRESS% %DOWNSTREAM_REMOTE_ADDRESS%",
  "%REQUESTED_SERVER_NAME% %ROUTE_NAME%",
].join(" ")}\n`;

/** The same as JSON. */
const defaultLogLabels: JsonObject = {
  start_time: "%START_TIME%",
  route_name: "%ROUTE_NAME%",
  method: "%REQ(:METHOD)%",
  path: "%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%",
  protocol: "%PROTOCOL%",
  response_code: "%RESPONSE_CODE%",
  response_flags: "%RESPONSE_FLAGS%",
  response_code_details: "%RESPONSE_CODE_DETAILS%",
  connection_termination_details: "%CONNECTION_TERMINATION_DETAILS%",
  bytes_received: "%BYTES_RECEIVED%",
  bytes_sent: "%BYTES_SENT%",
  duration: "%DURATION%",
  upstream_service_time: "%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)%",
  x_forwarded_for: "%REQ(X-FORWARDED-FOR)%",
  user_agent: "%REQ(USER-AGENT)%",
  request_id: "%REQ(X-REQUEST-ID)%",
  authority: "%REQ(:AUTHORITY)%",
  upstream_host: "%UPSTREAM_HOST%",
  upstream_cluster: "%UPSTREAM_CLUSTER_RAW%",
  upstream_local_address: "%UPSTREAM_LOCAL_ADDRESS%",
  downstream_local_address: "%DOWNSTREAM_LOCAL_ADDRESS%",
  downstream_remote_address: "%DOWNSTREAM_REMOTE_ADDRESS%",
  requested_server_name: "%REQUESTED_SERVER_NAME%",
  upstream_transport_failure_reason: "%UPSTREAM_TRANSPORT_FAILURE_REASON%",
};

const withoutQueryOperator = "%REQ_WITHOUT_QUERY";

/** Extensions that a format's operators need; looks at the text and at the labels of the first level, as Istio does. */
export function logFormatters(
  text: string,
  labels: Readonly<Record<string, unknown>> = {},
): { formatters?: TypedExtensionConfigJson[] } {
  const texts = [text, ...Object.values(labels)];
  const needed = texts.some((value) => typeof value === "string" && value.includes(withoutQueryOperator));
  if (!needed) return {};
  return {
    formatters: [
      {
        name: "envoy.formatter.req_without_query",
        typedConfig: packAny("envoy.extensions.formatter.req_without_query.v3.ReqWithoutQuery", {}),
      },
    ],
  };
}

/** A text format; "" means Istio's own. A missing line end is added. */
export function textLogFormat(text: string): SubstitutionFormatStringJson {
  const line = text === "" ? defaultLogText : text.endsWith("\n") ? text : `${text}\n`;
  return { textFormatSource: { inlineString: line }, ...logFormatters(line) };
}

/** A JSON format; no labels mean Istio's own. */
export function jsonLogFormat(labels: Readonly<Record<string, unknown>>): SubstitutionFormatStringJson {
  const jsonFormat = Object.keys(labels).length === 0 ? defaultLogLabels : jsonObject(labels);
  return { jsonFormat, jsonFormatOptions: {}, ...logFormatters("", jsonFormat) };
}

/** Keeps what JSON can say; the schema lets nothing else through. */
function jsonObject(labels: Readonly<Record<string, unknown>>): JsonObject {
  const entries = Object.entries(labels).flatMap(([key, value]) => {
    const json = jsonValue(value);
    return json === undefined ? [] : [[key, json] as const];
  });
  return Object.fromEntries(entries);
}

function jsonValue(value: unknown): JsonObject[string] | undefined {
  if (value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
    return value;
  }
  if (Array.isArray(value)) return value.map(jsonValue).filter((item) => item !== undefined);
  if (typeof value === "object") return jsonObject({ ...value });
  return undefined;
}
