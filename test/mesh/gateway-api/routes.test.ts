import { describe, expect, it } from "vitest";
import { compile } from "../../../lib/compile/compile.ts";
import { defaultWorldOptions, worldOf } from "../../../lib/compile/world/world-of.ts";
import { readFiles } from "../../../lib/config/folder/directory.ts";
import { createMemo } from "../../../lib/incremental/memo.ts";
import { resourcesIn } from "../../../lib/snapshot/compiled.ts";

/** A Gateway with a pod behind it, and services that routes name. */
const shop = `
apiVersion: v1
kind: Service
metadata: { name: edge, namespace: shop }
spec: { selector: { app: edge }, ports: [{ name: http, port: 80 }] }
---
apiVersion: v1
kind: Pod
metadata: { name: edge-1, namespace: shop, labels: { app: edge } }
spec: { containers: [{ name: istio-proxy, args: [proxy, router] }] }
status: { phase: Running, podIP: 10.0.0.1, conditions: [{ type: Ready, status: "True" }] }
---
apiVersion: v1
kind: Service
metadata: { name: cart, namespace: shop }
spec: { ports: [{ name: http, port: 80 }] }
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: edge, namespace: shop }
spec:
  gatewayClassName: istio
  addresses: [{ type: Hostname, value: edge }]
  listeners: [{ name: web, port: 80, protocol: HTTP }]
`;

interface Route {
  readonly name?: string;
  readonly kind?: string;
  readonly rules: readonly object[];
}

const routeText = ({ name = "cart", kind = "HTTPRoute", rules }: Route): string =>
  `---\n${JSON.stringify({
    apiVersion: "gateway.networking.k8s.io/v1",
    kind,
    metadata: { name, namespace: "shop" },
    spec: { parentRefs: [{ name: "edge" }], rules },
  })}\n`;

function compiled(...routes: readonly Route[]) {
  const text = shop + routes.map(routeText).join("");
  const memo = createMemo();
  return compile(worldOf(readFiles([{ file: "a.yaml", text }]), defaultWorldOptions, memo).value, [], memo).value;
}

/** The routes of the gateway's one table, in order. */
function routesOf(...routes: readonly Route[]) {
  const tables = compiled(...routes).classes.flatMap(({ poll }) =>
    resourcesIn(poll.routes).map(({ text }) => JSON.parse(text)),
  );
  return tables
    .find(({ name }) => name === "http.80")
    ?.virtualHosts.flatMap((host: { routes: unknown }) => host.routes);
}

const backendRefs = [{ name: "cart", port: 80 }];
const statusOf = (name: string, ...routes: readonly Route[]) =>
  compiled(...routes).statuses?.find(({ object }) => object.endsWith(`/${name}`))?.status;

describe("a route of the Gateway API", () => {
  it("sets headers by the names of what every object of JavaScript has", () => {
    const set = ["constructor", "__proto__", "x"].map((name) => ({ name, value: `of ${name}` }));
    const filters = [{ type: "RequestHeaderModifier", requestHeaderModifier: { set } }];
    const [route] = routesOf({ rules: [{ filters, backendRefs }] });
    const added = route.requestHeadersToAdd.map(({ header }: { header: object }) => header);
    expect(added).toEqual(["__proto__", "constructor", "x"].map((key) => ({ key, value: `of ${key}` })));
  });

  it("is tried before a shorter expression, by the bytes of both", () => {
    const rule = (value: string) => ({ matches: [{ path: { type: "RegularExpression", value } }], backendRefs });
    const routes = routesOf({ rules: [rule("/abcde"), rule("/äöü")] });
    expect(routes.map(({ match }: { match: { safeRegex: { regex: string } } }) => match.safeRegex.regex)).toEqual([
      "/äöü",
      "/abcde",
    ]);
  });

  it("of calls is refused for the first of its filters that it is refused for", () => {
    const mirror = { type: "RequestMirror", requestMirror: { backendRef: { name: "nowhere", port: 80 } } };
    const extension = { type: "ExtensionRef", extensionRef: { group: "example.com", kind: "Filter", name: "x" } };
    const reasons = [
      [mirror, extension],
      [extension, mirror],
    ].map((filters) =>
      JSON.stringify(statusOf("cart", { kind: "GRPCRoute", rules: [{ filters, backendRefs }] })).match(
        /BackendNotFound|InvalidFilter/g,
      ),
    );
    expect(reasons).toEqual([["BackendNotFound"], ["InvalidFilter"]]);
  });
});

describe("a route of the Gateway API that is refused, or a rule of it that leads nowhere", () => {
  const good = { name: "good", rules: [{ matches: [{ path: { value: "/good" } }], backendRefs }] };
  const paths = (...routes: readonly Route[]): readonly string[] =>
    routesOf(...routes).map(
      ({ match }: { match: { pathSeparatedPrefix?: string; prefix?: string } }) =>
        match.pathSeparatedPrefix ?? match.prefix ?? "",
    );
  const at = (value: string, rule: object) => ({ matches: [{ path: { value } }], ...rule });

  it.each([
    ["an object that its schema refuses", [at("/bad", { backendRefs: [{ name: "cart" }] })]],
    [
      "a filter that is not served",
      [
        at("/bad", {
          backendRefs,
          filters: [{ type: "ExtensionRef", extensionRef: { group: "e.com", kind: "F", name: "x" } }],
        }),
      ],
    ],
    ["a name with dots", [at("/bad", { backendRefs: [{ name: "cart.shop", port: 80 }] })]],
    [
      "a header value that Envoy cannot read",
      [
        at("/bad", {
          backendRefs,
          filters: [
            { type: "ResponseHeaderModifier", responseHeaderModifier: { set: [{ name: "x", value: "%BAD(%" }] } },
          ],
        }),
      ],
    ],
  ])("costs its neighbours nothing: %s", (_what, rules) => {
    expect(paths(good, { name: "bad", rules })).toEqual(["/good"]);
  });

  it.each([
    ["a backend that is not there", { backendRefs: [{ name: "nowhere", port: 80 }] }],
    [
      "a backend of another namespace without a grant",
      { backendRefs: [{ name: "cart", namespace: "other", port: 80 }] },
    ],
    ["a kind that is not served", { backendRefs: [{ group: "e.com", kind: "Bucket", name: "x" }] }],
    ["no weight at all", { backendRefs: [{ name: "cart", port: 80, weight: 0 }] }],
    ["no backend", {}],
  ])("keeps the other rules of its object served: %s", (_what, rule) => {
    expect(paths(good, { name: "bad", rules: [at("/bad", rule), at("/fine", { backendRefs })] }).toSorted()).toEqual([
      "/bad",
      "/fine",
      "/good",
    ]);
  });
});
