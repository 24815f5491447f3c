import { describe, expect, it } from "vitest";
import { isArray, isObject, type Json } from "../../conformance/json.ts";
import { answersOf, echo, service } from "./small-program.ts";

const name = "outbound|7070||echo.default.svc.cluster.local";
const two = echo + service("web", "10.0.0.2");

const route = (kind: string, spec: object, apiVersion = "networking.istio.io/v1"): string =>
  `${two}
apiVersion: ${apiVersion}
kind: ${kind}
metadata: { name: route, namespace: default }
spec: ${JSON.stringify(spec)}
`;

const hostsOf = (table: Json | undefined): readonly (Json | undefined)[] =>
  isArray(table) ? table.map((host) => (isObject(host) ? host.name : undefined)) : [];

describe("route tables of a gRPC program", () => {
  it("have the virtual hosts that answer to their host, so that no other host can cost it its routes", () => {
    const all = ["echo.default.svc.cluster.local:7070", "web.default.svc.cluster.local:7070"];
    expect(hostsOf(answersOf(two).at("routes", name, "virtualHosts"))).toEqual(all.slice(0, 1));
    const inIstiosForm = (release: "1.30" | "1.31") =>
      hostsOf(answersOf(two, "istio", "", release).at("routes", name, "virtualHosts"));
    expect(inIstiosForm("1.30")).toEqual(all);
    expect(inIstiosForm("1.31")).toEqual(all.slice(0, 1));
  });

  it("have the host of a wildcard for every service that it stands for", () => {
    const wild = route("VirtualService", {
      hosts: ["*.default.svc.cluster.local"],
      http: [{ timeout: "1s", route: [{ destination: { host: "web" } }] }],
    });
    expect(answersOf(wild).at("routes", name, "virtualHosts", 0, "routes", 0, "route")).toMatchObject({
      cluster: "outbound|7070||web.default.svc.cluster.local",
      maxStreamDuration: { maxStreamDuration: "1s" },
    });
  });

  it("set no filters but faults, since a program refuses a table for those that it does not have", () => {
    const http = [
      {
        corsPolicy: { allowOrigins: [{ exact: "https://a.example.com" }] },
        fault: { abort: { grpcStatus: "UNAVAILABLE", percentage: { value: 50 } } },
        route: [{ destination: { host: "echo" } }],
      },
    ];
    const input = route("VirtualService", { hosts: ["echo"], http });
    const filtersIn = (form: "shared" | "istio") =>
      Object.keys(
        answersOf(input, form).at("routes", name, "virtualHosts", 0, "routes", 0, "typedPerFilterConfig") ?? {},
      );
    expect(filtersIn("shared")).toEqual(["envoy.filters.http.fault"]);
    expect(filtersIn("istio").sort()).toEqual(["envoy.filters.http.cors", "envoy.filters.http.fault"]);
  });

  it("match a prefix that ends at a slash by the path itself and what is below it", () => {
    const spec = {
      parentRefs: [{ group: "", kind: "Service", name: "echo", port: 7070 }],
      rules: [
        {
          matches: [{ path: { type: "PathPrefix", value: "/proto.Admin" } }],
          backendRefs: [{ name: "web", port: 7070 }],
        },
      ],
    };
    const input = route("HTTPRoute", spec, "gateway.networking.k8s.io/v1");
    const match = (form: "shared" | "istio", at: number) =>
      answersOf(input, form).at("routes", name, "virtualHosts", 0, "routes", at, "match");
    expect(match("shared", 0)).toMatchObject({ path: "/proto.Admin" });
    expect(match("shared", 1)).toMatchObject({ prefix: "/proto.Admin/" });
    expect(match("istio", 0)).toMatchObject({ pathSeparatedPrefix: "/proto.Admin" });
  });
});
