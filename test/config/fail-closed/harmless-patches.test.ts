import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { harmlessExtensions, isHarmlessPatch } from "../../../lib/config/fail-closed/harmless-patches.ts";

const docs = readFileSync(resolve(import.meta.dirname, "../../../docs/policies.md"), "utf8");
const url = (type: string) => `type.googleapis.com/${type}`;
const http = (type: string) => `envoy.extensions.filters.http.${type}`;
const typed = (type: string, fields: object = {}) => ({ "@type": url(type), ...fields });
const patch = (applyTo: string, value: unknown, operation = "MERGE") => ({
  applyTo,
  match: { context: "SIDECAR_INBOUND" },
  patch: { operation, value },
});
const filter = (type: string, fields: object = {}) =>
  patch("HTTP_FILTER", { name: "own", typed_config: typed(http(type), fields) }, "INSERT_BEFORE");
const manager = (fields: object) =>
  patch("NETWORK_FILTER", {
    name: "envoy.filters.network.http_connection_manager",
    typed_config: typed("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", fields),
  });
const wasm = (code: string) => ({
  "@type": url("udpa.type.v1.TypedStruct"),
  type_url: url(http("wasm.v3.Wasm")),
  value: { config: { vm_config: { runtime: "envoy.wasm.runtime.null", code: { local: { inline_string: code } } } } },
});

describe("patches that are known to protect nothing", () => {
  it.each([
    ["gzip", filter("compressor.v3.Compressor", { compressor_library: { name: "gzip" }, anything: 1 })],
    ["a filter by its name alone", patch("HTTP_FILTER", { name: "envoy.filters.http.grpc_stats" }, "INSERT_FIRST")],
    ["Istio's stats", patch("HTTP_FILTER", { name: "istio.stats", typed_config: typed("stats.PluginConfig") })],
    ["Istio's stats of old releases", patch("HTTP_FILTER", { name: "w", typed_config: wasm("envoy.wasm.stats") })],
    [
      "an access log",
      manager({
        access_log: [{ name: "f", typed_config: typed("envoy.extensions.access_loggers.file.v3.FileAccessLog") }],
      }),
    ],
    ["timeouts", manager({ common_http_protocol_options: { idle_timeout: "30s" }, stream_idle_timeout: "0s" })],
    ["HTTP/2 of a cluster", patch("CLUSTER", { connect_timeout: "3s", http2_protocol_options: {} })],
    ["a buffer of a listener", patch("LISTENER", { per_connection_buffer_limit_bytes: 5 })],
    [
      "headers of answers",
      patch("ROUTE_CONFIGURATION", { response_headers_to_add: [{ header: { key: "a", value: "b" } }] }),
    ],
    ["retries of a route", patch("HTTP_ROUTE", { route: { timeout: "3s", retry_policy: {} } })],
    ["a filter that is taken out", patch("HTTP_FILTER", {}, "REMOVE")],
    ["a misspelt target of a harmless filter", { ...filter("buffer.v3.Buffer"), applyTo: "HTTP_FILTR" }],
    ["a scalar beside", { ...filter("buffer.v3.Buffer"), foo: 1 }],
  ])("%s", (_what, written) => {
    expect(isHarmlessPatch(written)).toBe(true);
  });
});

describe("patches that may protect", () => {
  it.each([
    ["code that may answer", filter("lua.v3.Lua", { default_source_code: {} })],
    ["code of one's own", patch("HTTP_FILTER", { name: "w", typed_config: wasm("my-guard") })],
    ["an extension that nobody lists", filter("a_new_guard.v9.Guard")],
    ["a filter with no type", patch("HTTP_FILTER", { name: "guard" }, "INSERT_BEFORE")],
    ["a field of a connection manager that decides what policies see", manager({ strip_any_host_port: true })],
    ["a misspelt field", manager({ normalise_path: true })],
    [
      "a filter in a connection manager",
      manager({ http_filters: [{ name: "g", typed_config: typed(http("rbac.v3.RBAC")) }] }),
    ],
    ["TLS of a cluster", patch("CLUSTER", { transport_socket: {} })],
    ["misspelt TLS of a cluster", patch("CLUSTER", { transport_sockt: {} })],
    [
      "a certificate of an upstream that is checked",
      patch("CLUSTER", {
        typed_extension_protocol_options: {
          a: typed("envoy.extensions.upstreams.http.v3.HttpProtocolOptions", {
            upstream_http_protocol_options: { auto_san_validation: true },
          }),
        },
      }),
    ],
    ["a filter chain", patch("FILTER_CHAIN", { filter_chain_match: {} })],
    [
      "a route that goes before another",
      patch("HTTP_ROUTE", { match: { prefix: "/admin" }, route: { cluster: "none" } }, "INSERT_FIRST"),
    ],
    ["a route that is taken out", patch("HTTP_ROUTE", {}, "REMOVE")],
    ["a header that is taken away", patch("VIRTUAL_HOST", { request_headers_to_remove: ["x-user"] })],
    ["settings of filters by route", patch("HTTP_ROUTE", { typed_per_filter_config: {} })],
    ["a patch under another name", { applyTo: "HTTP_FILTER", pach: { operation: "MERGE", value: { name: "a" } } }],
    ["a patch beside a patch", { ...filter("buffer.v3.Buffer"), more: { value: {} } }],
    ["a text", "applyTo: HTTP_FILTER"],
    ["an object's own words", manager({ constructor: {} })],
  ])("%s", (_what, written) => {
    expect(isHarmlessPatch(written)).toBe(false);
  });
});

it("are documented, each by its name", () => {
  const [, list = ""] = /<!-- harmless extensions -->\n([\s\S]*?)<!-- end -->/.exec(docs) ?? [];
  expect([...list.matchAll(/`([\w.]+)`/g)].map(([, name]) => name)).toEqual(harmlessExtensions);
});
