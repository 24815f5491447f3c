import { describe, expect, it } from "vitest";
import { readFiles } from "../../../lib/config/folder/directory.ts";

const group = "gateway.networking.k8s.io";
const read = (kind: string, spec: object, apiVersion = `${group}/v1`) => {
  const text = JSON.stringify({ apiVersion, kind, metadata: { name: "x", namespace: "ns" }, spec });
  const { configs, diagnostics } = readFiles([{ file: "x.yaml", text }]);
  const said = (wanted: string) =>
    diagnostics
      .filter(({ severity }) => severity === wanted)
      .map(({ path, code, message }) => `${path.join(".")} ${code} ${message}`);
  return { spec: configs[0]?.spec, errors: said("error"), warnings: said("warning") };
};
const gateway = (listener: object, more: object = {}) =>
  read("Gateway", {
    gatewayClassName: "istio",
    listeners: [{ name: "a", port: 80, protocol: "HTTP", ...listener }],
    ...more,
  });
const rule = (fields: object) => read("HTTPRoute", { rules: [fields] });
const backend = { name: "web", port: 80 };

describe("objects of the Gateway API", () => {
  it("have the defaults that the custom resource definitions fill in", () => {
    expect(gateway({ tls: undefined }).spec).toEqual({
      gatewayClassName: "istio",
      listeners: [{ name: "a", port: 80, protocol: "HTTP", allowedRoutes: { namespaces: { from: "Same" } } }],
    });
    expect(read("HTTPRoute", { parentRefs: [{ name: "gw" }] }).spec).toEqual({
      parentRefs: [{ group, kind: "Gateway", name: "gw" }],
      rules: [{ matches: [{ path: { type: "PathPrefix", value: "/" } }] }],
    });
    expect(rule({ matches: [{ method: "GET" }], backendRefs: [backend] }).spec).toEqual({
      rules: [
        {
          matches: [{ path: { type: "PathPrefix", value: "/" }, method: "GET" }],
          backendRefs: [{ group: "", kind: "Service", ...backend, weight: 1 }],
        },
      ],
    });
  });

  it.each([
    [
      rule({ matches: [{ path: { type: "RegularExpression", value: "/(?=x)" } }] }),
      "spec.rules.0.matches.0.path.value",
    ],
    [
      rule({ matches: [{ queryParams: [{ type: "RegularExpression", name: "q", value: "(" }] }] }),
      "spec.rules.0.matches.0.queryParams.0.value",
    ],
    [
      read("GRPCRoute", {
        rules: [{ matches: [{ method: { type: "RegularExpression", service: "(", method: "a" } }] }],
      }),
      "spec.rules.0.matches.0.method.service",
    ],
  ])("are warned of expressions that RE2 does not understand", ({ errors, warnings }, path) => {
    expect(errors).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining(path)]);
  });

  it("cost no more than they are long, whatever a header's value is", () => {
    const value = `${"a".repeat(4_000)}\u00e9`;
    expect(rule({ matches: [{ headers: [{ name: "x", value }] }] }).errors).toHaveLength(1);
  });

  it.each([
    ["a listener of HTTP with TLS", gateway({ tls: { certificateRefs: [{ name: "c" }] } }), "spec.listeners.0.tls"],
    [
      "HTTPS that is passed through",
      gateway({ protocol: "HTTPS", tls: { mode: "Passthrough" } }),
      "spec.listeners.0.tls.mode",
    ],
    ["TLS without a mode", gateway({ protocol: "TLS" }), "spec.listeners.0.tls"],
    [
      "TLS that ends without a certificate",
      gateway({ protocol: "TLS", tls: {} }),
      "spec.listeners.0.tls.certificateRefs",
    ],
    ["a host of a TCP listener", gateway({ protocol: "TCP", hostname: "a.com" }), "spec.listeners.0.hostname"],
    [
      "a header value that Envoy cannot format",
      rule({
        filters: [{ type: "RequestHeaderModifier", requestHeaderModifier: { set: [{ name: "x", value: "%REQ(%" }] } }],
      }),
      "spec.rules.0.filters.0.requestHeaderModifier.set.0.value",
    ],
    ["more attempts than Envoy counts", rule({ retry: { attempts: 5_000_000_000 } }), "spec.rules.0.retry.attempts"],
    ["a port of 0", gateway({ port: 0 }), "spec.listeners.0.port"],
    ["a host in upper case", gateway({ hostname: "A.com" }), "spec.listeners.0.hostname"],
    [
      "two listeners of one port, protocol and host",
      read("Gateway", {
        gatewayClassName: "istio",
        listeners: [
          { name: "a", port: 80, protocol: "HTTP" },
          { name: "b", port: 80, protocol: "HTTP" },
        ],
      }),
      "spec.listeners.1",
    ],
    ["a name for an address", gateway({}, { addresses: [{ value: "edge" }] }), "spec.addresses.0.value"],
    ["an address twice", gateway({}, { addresses: [{ value: "1.1.1.1" }, { value: "1.1.1.1" }] }), "spec.addresses.1"],
    ["a path without a slash", rule({ matches: [{ path: { value: "a" } }] }), "spec.rules.0.matches.0.path.value"],
    ["a path that goes up", rule({ matches: [{ path: { value: "/a/../b" } }] }), "spec.rules.0.matches.0.path.value"],
    ["a service without port", rule({ backendRefs: [{ name: "web" }] }), "spec.rules.0.backendRefs.0.port"],
    [
      "a redirect with backends",
      rule({ filters: [{ type: "RequestRedirect", requestRedirect: {} }], backendRefs: [backend] }),
      "spec.rules.0.backendRefs",
    ],
    ["a filter without what its type names", rule({ filters: [{ type: "CORS" }] }), "spec.rules.0.filters.0.cors"],
    [
      "a filter with what another type names",
      rule({ filters: [{ type: "CORS", cors: {}, urlRewrite: {} }] }),
      "spec.rules.0.filters.0.urlRewrite",
    ],
    [
      "a filter twice",
      rule({
        filters: [
          { type: "URLRewrite", urlRewrite: {} },
          { type: "URLRewrite", urlRewrite: {} },
        ],
      }),
      "spec.rules.0.filters.1.type",
    ],
    [
      "a new prefix for an exact path",
      rule({
        matches: [{ path: { type: "Exact", value: "/a" } }],
        filters: [
          { type: "URLRewrite", urlRewrite: { path: { type: "ReplacePrefixMatch", replacePrefixMatch: "/" } } },
        ],
      }),
      "spec.rules.0.matches",
    ],
    [
      "a timeout of the backend beyond that of the request",
      rule({ timeouts: { request: "1s", backendRequest: "2s" } }),
      "spec.rules.0.timeouts.backendRequest",
    ],
    ["a duration as Go alone writes it", rule({ timeouts: { request: "1.5s" } }), "spec.rules.0.timeouts.request"],
    [
      "one parent with and without a section",
      read("HTTPRoute", { parentRefs: [{ name: "gw" }, { name: "gw", sectionName: "a" }] }),
      "spec.parentRefs.1",
    ],
    ["one parent twice", read("HTTPRoute", { parentRefs: [{ name: "gw" }, { name: "gw" }] }), "spec.parentRefs.1"],
    [
      "a call without service and method",
      read("GRPCRoute", { rules: [{ matches: [{ method: {} }] }] }),
      "spec.rules.0.matches.0.method",
    ],
    ["a TLSRoute of v1 without names", read("TLSRoute", { rules: [{ backendRefs: [backend] }] }), "spec.hostnames"],
    [
      "an address as a name",
      read("TLSRoute", { hostnames: ["1.2.3.4"], rules: [{ backendRefs: [backend] }] }),
      "spec.hostnames.0",
    ],
    [
      "a policy that trusts nobody",
      read("BackendTLSPolicy", {
        targetRefs: [{ group: "", kind: "Service", name: "a" }],
        validation: { hostname: "a.com" },
      }),
      "spec.validation.caCertificateRefs",
    ],
    [
      "a policy that trusts the system and somebody",
      read("BackendTLSPolicy", {
        targetRefs: [{ group: "", kind: "Service", name: "a" }],
        validation: {
          hostname: "a.com",
          wellKnownCACertificates: "System",
          caCertificateRefs: [{ group: "", kind: "ConfigMap", name: "ca" }],
        },
      }),
      "spec.validation.caCertificateRefs",
    ],
    [
      "a budget of retries over a day",
      read(
        "XBackendTrafficPolicy",
        { targetRefs: [{ group: "", kind: "Service", name: "a" }], retryConstraint: { budget: { interval: "24h" } } },
        "gateway.networking.x-k8s.io/v1alpha1",
      ),
      "spec.retryConstraint.budget.interval",
    ],
    ["a field that nobody knows", gateway({ colour: "red" }), "spec.listeners.0.colour"],
  ])("refuse %s", (_what, { errors }, path) => {
    expect(errors.map((line) => line.split(" ")[0])).toContain(path);
  });

  it("are taken in older versions, where those asked for less", () => {
    const rules = [{ backendRefs: [backend] }];
    expect(read("TLSRoute", { rules }, `${group}/v1alpha2`).errors).toEqual([]);
    expect(
      read(
        "ReferenceGrant",
        { from: [{ group, kind: "HTTPRoute", namespace: "a" }], to: [{ group: "", kind: "Service" }] },
        `${group}/v1beta1`,
      ).errors,
    ).toEqual([]);
  });

  it("have one rule in a TCPRoute of v1, and more in older versions", () => {
    const rules = [{ backendRefs: [backend] }, { backendRefs: [backend] }];
    expect(read("TCPRoute", { rules }).errors).toEqual(["spec.rules invalid-value must have one element"]);
    expect(read("TCPRoute", { rules }, `${group}/v1alpha2`).errors).toEqual([]);
  });

  it("say how sessions persist in the words of 1.5 and of 1.7", () => {
    const errors = (sessionPersistence: object) => rule({ backendRefs: [backend], sessionPersistence }).errors;
    expect(errors({ type: "Header", header: { name: "x-a" } })).toEqual([]);
    expect(errors({ cookie: { name: "a", lifetimeType: "Permanent" } })).toEqual([
      expect.stringContaining("absoluteTimeout missing-field"),
    ]);
    expect(errors({ type: "Header", cookie: {} })).toEqual([expect.stringContaining("cookie conflicting-fields")]);
    expect(errors({ header: { name: "x-a" } })).toEqual([expect.stringContaining("header conflicting-fields")]);
  });
});
