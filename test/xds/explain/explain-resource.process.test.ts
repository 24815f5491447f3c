import { dump, loadAll } from "js-yaml";
import { describe, expect, it } from "vitest";
import { keyText } from "../../../lib/base/diagnostic.ts";
import { fieldsOf, listOf, textOf } from "../../../lib/base/untyped.ts";
import { objectsOfShards } from "../../../lib/compile/explain/root-objects.ts";
import { defaultWorldOptions, worldOf } from "../../../lib/compile/world/world-of.ts";
import { readFiles } from "../../../lib/config/folder/directory.ts";
import { createMemo } from "../../../lib/incremental/memo.ts";
import { buildMesh } from "../../../lib/mesh/build-mesh.ts";
import { explainResource } from "../../../lib/xds/explain/explain-resource.ts";
import { generate } from "../../../lib/xds/generate.ts";
import { wholeList } from "../../../lib/xds/resource.ts";
import { loadCase } from "../../conformance/load-case.ts";
import { casesOf } from "../../conformance/suites.ts";

const header = "x-portolan-rule";

/** Lets every rule and every match of a VirtualService say in the routes that it makes which one it is. */
function marked(object: unknown): unknown {
  const { kind, metadata, spec } = fieldsOf(object);
  if (kind !== "VirtualService") return object;
  const { name, namespace } = fieldsOf(metadata);
  const owner = `${textOf(namespace) || "default"}/${textOf(name)}`;
  const http = listOf(fieldsOf(spec).http).map((written, i) => {
    const rule = fieldsOf(written);
    const headers = fieldsOf(rule.headers);
    const response = fieldsOf(headers.response);
    const set = { ...fieldsOf(response.set), [header]: `${owner} ${i}` };
    // What a delegate's own rule narrows in no way has the match of the root.
    const mark = (j: number) => (rule.delegate === undefined ? { statPrefix: `${j}` } : {});
    const match = listOf(rule.match).map((one, j) => ({ ...fieldsOf(one), ...mark(j) }));
    return {
      ...rule,
      ...(rule.match === undefined ? {} : { match }),
      ...(rule.delegate === undefined ? { headers: { ...headers, response: { ...response, set } } } : {}),
    };
  });
  return { ...fieldsOf(object), spec: { ...fieldsOf(spec), ...(fieldsOf(spec).http === undefined ? {} : { http }) } };
}

const markedStream = (input: string): string =>
  loadAll(input)
    .map((object) => dump(marked(object), { noRefs: true }))
    .join("---\n");

/** The rule that a route says it was made by: `namespace/name http match`. */
function toldBy(route: unknown): string | undefined {
  const { responseHeadersToAdd, statPrefix } = fieldsOf(route);
  const told = listOf(responseHeadersToAdd).map((one) => fieldsOf(fieldsOf(one).header));
  const found = told.find(({ key }) => key === header);
  return found === undefined ? undefined : `${textOf(found.value)} ${textOf(statPrefix)}`.trim();
}

describe("an explanation of a route", () => {
  it("names the rule and the match that made it, in every case that was recorded", () => {
    let routes = 0;
    const wrong: string[] = [];
    for (const { name, path } of casesOf("v3")) {
      let input = "";
      const world = loadCase(path, {
        change: (text) => {
          input = markedStream(text);
          return input;
        },
      });
      const objects = objectsOfShards([{ name: "main", version: "", files: [{ file: "input.yaml", text: input }] }]);
      const memo = createMemo();
      const mesh = buildMesh(world, memo);
      for (const proxy of world.proxies) {
        for (const table of wholeList(generate(mesh.value, proxy, memo).value.routes)) {
          const from = table.from.map(keyText);
          const stored = {
            type: "routes" as const,
            name: table.name,
            version: "",
            from,
            text: JSON.stringify(table.json),
          };
          const { virtualHosts } = explainResource(stored, objects, proxy.namespace);
          const written = listOf(fieldsOf(table.json).virtualHosts).map((host) => listOf(fieldsOf(host).routes));
          for (const [h, host] of virtualHosts.entries()) {
            for (const { index, cause } of host.routes) {
              const told = toldBy(written[h]?.[index]);
              if (told === undefined) continue;
              routes += 1;
              const [, namespace, object] = /^VirtualService\/(.*)\/(.*)$/.exec(cause?.object ?? "") ?? [];
              const [, , rule = "", , match = ""] = (cause?.path ?? []).map(String);
              const said = `${namespace}/${object} ${rule} ${match}`.trim();
              if (said !== told) wrong.push(`${name}: ${table.name} ${host.name} ${index}: ${said}, not ${told}`);
            }
          }
        }
      }
    }
    expect(wrong).toEqual([]);
    expect(routes).toBeGreaterThan(200);
  }, 120_000);

  it("leads for the Gateway API to the rule of the HTTPRoute or GRPCRoute", () => {
    let rules = 0;
    const lost: string[] = [];
    for (const { name, path } of casesOf("gateway-api")) {
      let input = "";
      const world = loadCase(path, {
        change: (text) => {
          input = text;
          return text;
        },
      });
      const objects = objectsOfShards([{ name: "main", version: "", files: [{ file: "input.yaml", text: input }] }]);
      const memo = createMemo();
      const mesh = buildMesh(world, memo);
      for (const proxy of world.proxies) {
        for (const table of wholeList(generate(mesh.value, proxy, memo).value.routes)) {
          const from = table.from.map(keyText);
          const stored = {
            type: "routes" as const,
            name: table.name,
            version: "",
            from,
            text: JSON.stringify(table.json),
          };
          for (const host of explainResource(stored, objects, proxy.namespace).virtualHosts) {
            for (const { name: route, cause, reason } of host.routes) {
              if (cause !== undefined) rules += 1;
              const index = /\.(\d+)$/.exec(route)?.[1];
              if (index !== undefined && cause !== undefined)
                expect(cause.path.slice(0, 3)).toEqual(["spec", "rules", Number(index)]);
              // Some of Istio's own inputs have names that no server takes, and so no source has.
              if (reason.startsWith("of /apis") && route === route.toLowerCase())
                lost.push(`${name}: ${table.name} ${host.name} ${route}`);
            }
          }
        }
      }
    }
    expect(lost).toEqual([]);
    expect(rules).toBeGreaterThan(100);
  }, 120_000);

  it("leads for rules that call themselves alike to the one with the route's match, backends and host", () => {
    const service = (name: string) =>
      `---\napiVersion: v1\nkind: Service\nmetadata: { name: ${name}, namespace: shop }\nspec: { selector: { app: ${name} }, ports: [{ name: http, port: 80 }] }\n`;
    const httpRoute = (name: string) => `---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: ${name}, namespace: shop }
spec:
  parentRefs: [{ name: edge }]
  hostnames: [${name}.example.com]
  rules:
  - name: read
    matches: [{ path: { value: /a } }, { path: { value: /${name} } }]
    backendRefs: [{ name: ${name}, port: 80 }]
`;
    const text = `apiVersion: v1
kind: Pod
metadata: { name: edge-1, namespace: shop, labels: { app: edge } }
spec: { containers: [{ name: istio-proxy, args: [proxy, router] }] }
status: { phase: Running, podIP: 10.0.0.1, conditions: [{ type: Ready, status: "True" }] }
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: edge, namespace: shop }
spec:
  gatewayClassName: istio
  addresses: [{ type: Hostname, value: edge }]
  listeners: [{ name: web, port: 80, protocol: HTTP }]
${["edge", "cart", "news"].map(service).join("")}${["cart", "news"].map(httpRoute).join("")}`;
    const objects = objectsOfShards([{ name: "main", version: "", files: [{ file: "shop.yaml", text }] }]);
    const memo = createMemo();
    const world = worldOf(readFiles([{ file: "shop.yaml", text }]), defaultWorldOptions, memo).value;
    const mesh = buildMesh(world, memo).value;
    const lines = text.split("\n");
    const led = world.proxies.flatMap((proxy) =>
      wholeList(generate(mesh, proxy, memo).value.routes).flatMap((table) =>
        explainResource(
          {
            type: "routes",
            name: table.name,
            version: "",
            from: table.from.map(keyText),
            text: JSON.stringify(table.json),
          },
          objects,
          proxy.namespace,
        ).virtualHosts.flatMap(({ name, routes }) =>
          routes.map(({ name: route, cause }) => {
            const [file, line] = (cause?.at ?? "").split(":");
            return [name, route, file, cause?.path.join("."), lines[Number(line) - 1]?.trim()];
          }),
        ),
      ),
    );
    const written = (name: string) => `matches: [{ path: { value: /a } }, { path: { value: /${name} } }]`;
    expect(led).toEqual(
      ["cart", "news"].flatMap((name) =>
        [1, 0].map((match) => [
          `${name}.example.com:80`,
          "read",
          "shop.yaml",
          `spec.rules.0.matches.${match}`,
          written(name),
        ]),
      ),
    );
  });
});
