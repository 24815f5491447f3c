import { describe, expect, it } from "vitest";
import { readFiles } from "../../../lib/config/folder/directory.ts";
import { envelope } from "../a-config.ts";

const filterOf = (applyTo: string, operation: string, value: string) =>
  `{configPatches: [{applyTo: ${applyTo}, match: {context: ANY}, patch: {operation: ${operation}, value: ${value}}}]}`;
const inserted = (value: string) => filterOf("HTTP_FILTER", "INSERT_BEFORE", value);
const merged = (value: string) => filterOf("CLUSTER", "MERGE", value);
const typed = (type: string, fields = "") => `{name: x, typed_config: {"@type": ${type}${fields}}}`;
const filters = "type.googleapis.com/envoy.extensions.filters.http";

/** `severity code path-in-the-value: message; hint` */
function said(spec: string, settings = "{}"): readonly string[] {
  const files = [
    { file: "a.yaml", text: `${envelope("EnvoyFilter", "a")}spec: ${spec}` },
    { file: "portolan.yaml", text: settings },
  ];
  return readFiles(files).diagnostics.map(({ severity, code, path, message, hint }) => {
    const within = path.slice(1).join(".").replace("configPatches.0.patch.value", "");
    return `${severity} ${code} ${within}: ${message}; ${hint}`;
  });
}

const one = (...parts: readonly string[]) => [expect.stringMatching(new RegExp(parts.join(".*")))];

describe("a value that no Envoy takes", () => {
  it.each([
    [
      "of a type of v2",
      inserted(typed("type.googleapis.com/envoy.config.filter.http.lua.v2.Lua", ", inlineCode: a")),
      ["error envoy-filter-value .typed_config.@type:", "v2 API", `write ${filters}.lua.v3.Lua`],
    ],
    [
      "of such a type in a wrapper",
      inserted(
        typed(
          "type.googleapis.com/udpa.type.v1.TypedStruct",
          ", type_url: type.googleapis.com/envoy.config.filter.http.fault.v2.HTTPFault",
        ),
      ),
      ["error envoy-filter-value .typed_config.type_url:", `write ${filters}.fault.v3.HTTPFault`],
    ],
    [
      "within a wrapper",
      inserted(
        typed(
          "type.googleapis.com/xds.type.v3.TypedStruct",
          `, type_url: ${filters}.buffer.v3.Buffer, value: {max_request_bytes: many}`,
        ),
      ),
      ["error envoy-filter-value .typed_config.value.max_request_bytes:", "must be a positive integer"],
    ],
    ["without a type and fields", inserted("{name: x, typed_config: {}}"), ["error .*typed_config: is empty"]],
    [
      "without a type",
      inserted("{name: x, typed_config: {max_request_bytes: 5}}"),
      ["error .*typed_config: it needs a"],
    ],
    [
      "in lower case",
      merged("{lb_policy: round_robin}"),
      ["error .*.lb_policy: must be a value of", "write ROUND_ROBIN"],
    ],
    ["with a number for a text", merged("{alt_stat_name: 5}"), ["error .*.alt_stat_name: must be a string, not 5"]],
    ["with a text for a list", merged("{health_checks: x}"), ["error .*.health_checks: must be a list"]],
    ["with a duration without unit", merged("{connect_timeout: 5}"), ["error .*.connect_timeout:", "write 5s"]],
    [
      "with an empty Any in a map",
      merged("{typed_extension_protocol_options: {a: null}}"),
      ["error .*options.a: is empty"],
    ],
    [
      "whose Any holds a message that is a text",
      merged('{typed_extension_protocol_options: {a: {"@type": type.googleapis.com/google.protobuf.StringValue}}}'),
      ['error .*options.a: needs a "value"'],
    ],
    [
      "with a regular expression that RE2 cannot read",
      filterOf("HTTP_ROUTE", "MERGE", "{match: {safe_regex: {regex: '(?=a)'}}}"),
      ["error envoy-filter-value .*regex: .*no regular expression that RE2 understands"],
    ],
    [
      "with one in a filter",
      inserted(
        typed(`${filters}.fault.v3.HTTPFault`, ", headers: [{name: a, string_match: {safe_regex: {regex: '['}}}]"),
      ),
      ["error envoy-filter-value .*regex: .*no regular expression"],
    ],
    [
      "with a token bucket that is filled too often",
      inserted(
        typed(
          `${filters}.local_ratelimit.v3.LocalRateLimit`,
          ", stat_prefix: a, token_bucket: {max_tokens: 5, fill_interval: 20ms}",
        ),
      ),
      ["error envoy-filter-value .*[fF]ill_?[iI]nterval: must be at least 0.05s .50 ms., not 0.020s"],
    ],
    [
      "with one of a route",
      filterOf(
        "HTTP_ROUTE",
        "MERGE",
        `{typed_per_filter_config: {x: {"@type": ${filters}.local_ratelimit.v3.LocalRateLimit, stat_prefix: a, token_bucket: {max_tokens: 5, fill_interval: 0.049s}}}}`,
      ),
      ["error envoy-filter-value .*nterval: must be at least 0.05s"],
    ],
    [
      "with two rewrites of one route",
      filterOf(
        "HTTP_ROUTE",
        "MERGE",
        "{route: {prefix_rewrite: /a, regex_rewrite: {pattern: {regex: a}, substitution: b}}}",
      ),
      ["warning envoy-filter-value .*regex_?[rR]ewrite: is beside prefixRewrite, and Envoy refuses a route table"],
    ],
    [
      "with bytes of another alphabet",
      merged("{upstream_bind_config: {socket_options: [{level: 1, name: 1, buf_value: '-_8='}]}}"),
      ["error .*buf_value: must be bytes"],
    ],
  ])("is an error where it stands: %s", (_what, spec, parts) => {
    expect(said(spec)).toEqual(one(...parts));
  });

  it("is none where Envoy takes it", () => {
    const bucket = "stat_prefix: a, token_bucket: {max_tokens: 5, fill_interval: 50ms}";
    expect(said(inserted(typed(`${filters}.local_ratelimit.v3.LocalRateLimit`, `, ${bucket}`)))).toEqual([]);
    expect(said(filterOf("HTTP_ROUTE", "MERGE", "{match: {safe_regex: {regex: '/a(b|c)+'}}}"))).toEqual([]);
  });

  it("names what the filters of old had, and says what to write", () => {
    expect(said(inserted("{name: envoy.filters.http.buffer, config: {max_request_bytes: 5}}"))).toEqual([
      expect.stringMatching(/^error envoy-filter-value : needs typed_config: Envoy does not look up extensions/),
      expect.stringMatching(/^error envoy-filter-value \.config: .*write typed_config/),
    ]);
  });

  it("is one as an element of a list, too, and none where it is merged into what has the rest", () => {
    const manager = typed(
      "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
      ", access_log: [{name: a}]",
    );
    expect(said(filterOf("NETWORK_FILTER", "MERGE", manager))).toEqual(
      one("error envoy-filter-value .typedConfig.accessLog.0: needs typed_config"),
    );
    expect(said(filterOf("HTTP_FILTER", "MERGE", "{name: renamed}"))).toEqual([]);
    expect(said(inserted("{name: x, is_optional: true}"))).toEqual([]);
  });
});

describe("a value of a type that is not known", () => {
  it.each([
    ["of a company's own", "type.googleapis.com/example.Filter"],
    ["that Envoy may have later", `${filters}.lua.v3.LuaOfTomorrow`],
  ])("is an error, unless the folder's settings accept it: %s", (_what, type) => {
    expect(said(inserted(typed(type)))).toEqual(
      one("error envoy-filter-unknown-type .typed_config.@type:", "acceptUnknownTypes: true"),
    );
    expect(said(inserted(typed(type)), "acceptUnknownTypes: true")).toEqual([]);
  });

  it("is an error of v2 whatever the settings say", () => {
    const spec = inserted(typed("type.googleapis.com/envoy.config.filter.http.squash.v2.Squash"));
    expect(said(spec, "acceptUnknownTypes: true")).toEqual(one("error envoy-filter-value"));
  });

  it("is passed on with a warning where Envoy has it, and its fields are not known here", () => {
    expect(said(inserted(typed(`${filters}.api_key_auth.v3.ApiKeyAuth`)))).toEqual(
      one("warning envoy-filter-unknown-type .typed_config.@type:"),
    );
  });
});

describe("a value of which a part has no effect", () => {
  it.each([
    [
      "a field that the message has not",
      inserted(typed(`${filters}.buffer.v3.Buffer`, ", max_request_bytes: 5, maxRequestByte: 5")),
      ["warning unknown-field .typed_config.maxRequestByte:", "write max_request_bytes"],
    ],
    [
      "one spelling of two",
      merged("{connect_timeout: 3s, connectTimeout: 4s}"),
      ["warning no-effect .connect_timeout: has no effect: connectTimeout is set as well, and Istio reads that one"],
    ],
    [
      "a member of a oneof",
      filterOf("HTTP_ROUTE", "MERGE", "{route: {host_rewrite_literal: a, auto_host_rewrite: true}}"),
      ["warning no-effect .route.host_rewrite_literal:", "auto_host_rewrite"],
    ],
  ])("is taken, with a warning: %s", (_what, spec, parts) => {
    expect(said(spec)).toEqual(one(...parts));
  });

  it("is refused where it may protect something", () => {
    expect(said(inserted(typed(`${filters}.lua.v3.Lua`, ", inlineCod: a")))).toEqual(
      one("error envoy-filter-value .typed_config.inlineCod:", "write inline_code"),
    );
    expect(said(merged("{transport_sockt: {}}"))).toEqual(one("error envoy-filter-value .transport_sockt:"));
    expect(said(inserted(typed(`${filters}.rbac.v3.RBAC`, ", rulez: {}")))).toEqual(
      one("error envoy-filter-value .typed_config.rulez:", "write rules"),
    );
  });

  it.each([
    merged("{connect_timeout: 1m30s, per_connection_buffer_limit_bytes: '1024', lb_policy: 1}"),
    merged("{metadata: {filter_metadata: {a: {b: 1, c: null, d: [1, x, true, null]}}}}"),
    inserted(typed("example.com/envoy.extensions.filters.http.buffer.v3.Buffer", ", max_request_bytes: 5")),
  ])("is none of what Istio reads: %s", (spec) => {
    expect(said(spec)).toEqual([]);
  });
});
