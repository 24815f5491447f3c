import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { compile } from "../../../lib/compile/compile.ts";
import { defaultWorldOptions, worldOf } from "../../../lib/compile/world/world-of.ts";
import { readFiles } from "../../../lib/config/folder/directory.ts";
import { createMemo } from "../../../lib/incremental/memo.ts";
import { resourcesIn } from "../../../lib/snapshot/compiled.ts";

const samples = new URL("../../../samples/bookshop-gateway-api/", import.meta.url);
const bookshop = readdirSync(samples)
  .filter((file) => file.endsWith(".yaml"))
  .map((file) => readFileSync(new URL(file, samples), "utf8"))
  .join("\n---\n");

const gateway = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: edge, namespace: infra, generation: 3 }
spec:
  gatewayClassName: istio
  listeners: [{ name: web, port: 80, protocol: HTTP, hostname: "*.example.com" }]
`;
const route = (spec: string, status = "") => `---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: shop, namespace: infra }
spec: ${spec}
${status}`;

function compiled(text: string, memo = createMemo()) {
  const world = worldOf(readFiles([{ file: "a.yaml", text }]), defaultWorldOptions, memo).value;
  return compile(world, [], memo).value;
}
const statusOf = (text: string, object: string) =>
  compiled(text).statuses?.find((one) => one.object === object)?.status;

const shop = "HTTPRoute.gateway.networking.k8s.io/infra/shop";

describe("the status of an object of the Gateway API", () => {
  it("is part of what was compiled, and none is where there is no such object", () => {
    expect(compiled(gateway).statuses?.map(({ object, generation }) => [object, generation])).toEqual([
      ["Gateway.gateway.networking.k8s.io/infra/edge", 3],
    ]);
    expect(compiled("")).not.toHaveProperty("statuses");
  });

  it("is of the whole object, where a match is left out whose expression Envoy cannot read", () => {
    const matches = ["/(?=x)", "/good.*"].map((value) => `{ path: { type: RegularExpression, value: "${value}" } }`);
    const spec = `{ parentRefs: [{ name: bookshop, namespace: bookshop }], hostnames: [shop.example.com], rules: [{ matches: [${matches.join(", ")}] }] }`;
    const text = `${bookshop}\n${route(spec).replaceAll("infra", "bookshop")}`;
    const tables = compiled(text).classes.flatMap(({ poll }) => resourcesIn(poll.routes).map((table) => table.text));
    expect(tables.join()).toContain("/good.*");
    expect(tables.join()).not.toContain("(?=x)");
    expect(statusOf(text, "HTTPRoute.gateway.networking.k8s.io/bookshop/shop")).toMatchObject({
      parents: [{ conditions: [{ type: "Accepted", status: "True" }, {}] }],
    });
  });

  it("counts the routes of each listener once, and says what is wrong with the place", () => {
    const text = `${gateway}${route("{ parentRefs: [{ name: edge }], hostnames: [a.example.com, b.example.com] }")}`;
    expect(statusOf(text, "Gateway.gateway.networking.k8s.io/infra/edge")).toMatchObject({
      conditions: [
        { type: "Accepted", status: "True" },
        {
          type: "Programmed",
          status: "False",
          reason: "AddressNotUsable",
          message: expect.stringContaining('hostname "edge-istio.infra.svc.cluster.local" not found'),
        },
        { type: "ResolvedRefs", status: "True" },
      ],
      listeners: [{ name: "web", attachedRoutes: 1 }],
    });
  });

  const listeners = (...more: string[]) =>
    gateway.replace("listeners: [", `listeners: [${more.map((one) => `{ ${one} }, `).join("")}`);
  const edge = "Gateway.gateway.networking.k8s.io/infra/edge";
  const settled = (text: string, object: string, release: "1.30" | "1.31") => {
    const loaded = readFiles([{ file: "a.yaml", text }]);
    const memo = createMemo();
    const { statuses = [] } = compile(worldOf(loaded, { ...defaultWorldOptions, release }, memo).value, [], memo).value;
    const { conditions = [], listeners: own = [] } = Object(statuses.find((one) => one.object === object)?.status);
    const texts = (all: readonly { type: string; status: string; reason: string }[]) =>
      all.map(({ type, status, reason }) => `${type} ${status} ${reason}`);
    return { whole: texts(conditions), each: own.map((one: { conditions: [] }) => texts(one.conditions)[0]) };
  };

  it("follows from the listeners of a Gateway since 1.31, of which one that conflicts with an earlier one is none", () => {
    const host = "port: 443, hostname: a.example.com";
    const text = listeners(
      `name: one, ${host}, protocol: HTTPS, tls: { certificateRefs: [{ name: cert }] }`,
      `name: two, ${host}, protocol: TLS, tls: { mode: Passthrough }`,
    );
    expect(settled(text, edge, "1.30")).toMatchObject({
      whole: ["Accepted True Accepted", "Programmed False AddressNotUsable"],
      each: ["Accepted True Accepted", "Accepted True Accepted", "Accepted True Accepted"],
    });
    expect(settled(text, edge, "1.31")).toMatchObject({
      whole: ["Accepted True ListenersNotValid", "Programmed False AddressNotUsable", "ResolvedRefs True ResolvedRefs"],
      each: ["Accepted True Accepted", "Accepted False ProtocolConflict", "Accepted True Accepted"],
    });
  });

  it("refuses a Gateway or ListenerSet without valid listeners since 1.31, and tells of references of the Gateway", () => {
    const tls = "tls: { backend: { clientCertificateRef: { kind: ConfigMap, name: x } } }";
    const odd = gateway
      .replace("protocol: HTTP", "protocol: odd")
      .replace("gatewayClassName: istio", `gatewayClassName: istio\n  ${tls}`);
    expect(settled(odd, edge, "1.31").whole).toEqual([
      "Accepted False ListenersNotValid",
      "Programmed False AddressNotUsable",
      "ResolvedRefs False InvalidClientCertificateRef",
    ]);
    const set = `${gateway.replace("spec:", "spec:\n  allowedListeners: { namespaces: { from: Same } }")}---
apiVersion: gateway.networking.k8s.io/v1
kind: ListenerSet
metadata: { name: more, namespace: infra }
spec: { parentRef: { name: edge }, listeners: [{ name: bare, port: 443, protocol: HTTPS }] }
`;
    const more = "ListenerSet.gateway.networking.k8s.io/infra/more";
    expect(settled(set, more, "1.30").whole[0]).toBe("Accepted True Accepted");
    expect(settled(set, more, "1.31")).toEqual({
      whole: ["Accepted False ListenersNotValid", "Programmed False ListenersNotValid"],
      each: ["Accepted False UnsupportedProtocol"],
    });
  });

  it("names what is wrong with the authority of clients apart since 1.31", () => {
    const frontend =
      "tls: { frontend: { default: { validation: { caCertificateRefs: [{ group: '', kind: ConfigMap, name: none }] } } } }";
    const text = listeners(
      "name: secure, port: 443, protocol: HTTPS, tls: { certificateRefs: [{ name: cert }] }",
    ).replace("gatewayClassName: istio", `gatewayClassName: istio\n  ${frontend}`);
    expect(settled(text, edge, "1.30").each[0]).toBe("Accepted True Accepted");
    expect(settled(text, edge, "1.31").each[0]).toBe("Accepted False NoValidCACertificate");
  });

  it("leaves what others wrote, and takes away what it wrote itself of a parent that is gone", () => {
    const status = `
status:
  parents:
    - { controllerName: example.com/other, parentRef: { name: theirs }, conditions: [] }
    - { controllerName: istio.io/gateway-controller, parentRef: { name: gone }, conditions: [] }
`;
    const text = `${gateway}${route("{ parentRefs: [{ name: edge, sectionName: web }] }", status)}`;
    expect(statusOf(text, shop)).toMatchObject({
      parents: [
        { controllerName: "example.com/other" },
        { controllerName: "istio.io/gateway-controller", parentRef: { name: "edge", sectionName: "web" } },
      ],
    });
  });

  it("keeps the time of a condition whose status stays", () => {
    const status = `
status:
  parents:
    - controllerName: istio.io/gateway-controller
      parentRef: { group: gateway.networking.k8s.io, kind: Gateway, name: edge }
      conditions:
        - { type: Accepted, status: "True", reason: Old, message: old, lastTransitionTime: "2025-01-01T00:00:00Z" }
        - { type: ResolvedRefs, status: "False", reason: Old, message: old, lastTransitionTime: "2025-01-01T00:00:00Z" }
`;
    const text = `${gateway}${route("{ parentRefs: [{ name: edge }] }", status)}`;
    expect(statusOf(text, shop)).toMatchObject({
      parents: [{ conditions: [{ lastTransitionTime: "2025-01-01T00:00:00Z" }, {}] }],
    });
    expect(JSON.stringify(statusOf(text, shop)).match(/lastTransitionTime/g)).toHaveLength(1);
  });

  it("becomes a warning at the object where a condition of ours is bad", () => {
    const text = `${gateway}${route('{ parentRefs: [{ name: edge }], hostnames: ["shop.test"] }')}`;
    const found = compiled(text).diagnostics.filter(({ code }) => code === "gateway-api-condition");
    expect(found.map(({ hint }) => hint)).toEqual([
      expect.stringMatching(/^Portolan deploys no gateways: add the Service <gateway>-<class>/),
      expect.stringContaining("give the route a hostname that the listener's covers"),
    ]);
    expect(found.map(({ origin, message }) => [origin.key.name, origin.line, message])).toContainEqual([
      "shop",
      9,
      'Gateway edge: Accepted is False (NoMatchingListenerHostname): no hostnames matched parent hostname "*.example.com"',
    ]);
  });

  it.each([
    ["a slip in its name", "isto", "", ["did you mean istio?"]],
    ["a name of nobody's", "nginx", "", ["name a class that is served, or add the GatewayClass"]],
    ["a class of ours", "portolan", "", []],
    ["a remote class", "istio-remote", "", []],
    ["a class that somebody else serves", "nginx", "example.com/nginx", []],
    ["a class whose GatewayClass is ours", "edge", "istio.io/gateway-controller", []],
  ])("a Gateway is warned of where nobody serves its class: %s", (_what, name, controller, hints) => {
    const made = `---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: ${name} }
spec: { controllerName: ${controller} }
`;
    const text = gateway.replace("gatewayClassName: istio", `gatewayClassName: ${name}`);
    const found = compiled(controller === "" ? text : text + made).diagnostics.filter(
      ({ code }) => code === "gateway-class-not-served",
    );
    expect(found.map(({ hint }) => hint)).toEqual(hints);
    for (const { message } of found)
      expect(message).toBe(`is ${name}, a class that is not served here (istio, portolan): no proxy gets this Gateway`);
  });

  it.each([
    ["is given apart, where no source holds it", "", "True"],
    [
      "is whole, where only its name was read",
      "apiVersion: v1\nkind: Secret\nmetadata: { name: cert, namespace: infra }\n",
      "True",
    ],
    [
      "cannot be used, where it holds no certificate",
      "apiVersion: v1\nkind: Secret\nmetadata: { name: cert, namespace: infra }\ndata: { tls.crt: eA==, tls.key: eA== }\n",
      "False",
    ],
  ])("says of a certificate that it %s", (_what, secret, resolved) => {
    const text = `${gateway.replace("port: 80, protocol: HTTP", "port: 443, protocol: HTTPS, tls: { certificateRefs: [{ name: cert }] }")}---\n${secret}`;
    expect(statusOf(text, "Gateway.gateway.networking.k8s.io/infra/edge")).toMatchObject({
      listeners: [{ conditions: [{}, {}, {}, { type: "ResolvedRefs", status: resolved }] }],
    });
  });

  it("is the same object in the next compile as long as it says the same", () => {
    const memo = createMemo();
    const folder = readFiles([{ file: "a.yaml", text: gateway }]);
    const [first, second] = [1, 2].map(() => compile(worldOf(folder, defaultWorldOptions, memo).value, [], memo).value);
    expect(second?.statuses).toBe(first?.statuses);
  });
});
