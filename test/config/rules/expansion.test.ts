import { describe, expect, it } from "vitest";
import { createFileCompiler } from "../../../lib/compile/compile-files.ts";
import { defaultWorldOptions } from "../../../lib/compile/world/world-of.ts";
import { readFiles } from "../../../lib/config/folder/directory.ts";

const times = <T>(count: number, of: (at: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, at) => of(at));

const object = (kind: string, spec: object, name = "large"): string => {
  const group = kind === "AuthorizationPolicy" ? "security.istio.io" : "networking.istio.io";
  return JSON.stringify({ apiVersion: `${group}/v1`, kind, metadata: { name, namespace: "evil" }, spec });
};
const to = [{ destination: { host: "x.example" } }];
const entry = (hosts: number, addresses: number, ports: number) => ({
  hosts: times(hosts, (at) => `e${at}.example`),
  addresses: times(addresses, (at) => `10.${at}.0.0/16`),
  ports: times(ports, (at) => ({ number: 1_000 + at, name: `tcp${at}`, protocol: "TCP" })),
  resolution: "NONE",
});
const service = (hosts: number, routes: number) => ({
  hosts: times(hosts, (at) => `h${at}.example`),
  http: times(routes, (at) => ({ match: [{ uri: { prefix: `/${at}/` } }], route: to })),
});
const endpoints = (count: number) => ({
  hosts: times(16, (at) => `e${at}.example`),
  ports: times(16, (at) => ({ number: 1_000 + at, name: `http${at}`, protocol: "HTTP" })),
  endpoints: times(count, (at) => ({ address: `10.0.${at >> 8}.${at & 255}` })),
  resolution: "STATIC",
});
const patch = { applyTo: "CLUSTER", patch: { operation: "MERGE", value: { connect_timeout: "1s" } } };
const server = (at: number) => ({
  port: { number: 80, name: `http-${at}`, protocol: "HTTP" },
  hosts: [`h${at}.example`],
});
const policy = (sources: number, values: number) => ({
  rules: [
    {
      from: times(sources, (at) => ({ source: { namespaces: [`n${at}`] } })),
      when: [{ key: "request.headers[x]", values: times(values, (at) => `${at}`.padStart(100, "x")) }],
    },
  ],
});

const saidOf = (text: string) =>
  readFiles([{ file: "a.yaml", text }]).diagnostics.filter(({ code }) => code === "too-large");

describe("an object that expands to a product of its lists", () => {
  it.each([
    [
      "ServiceEntry",
      entry(64, 16, 16),
      entry(64, 16, 17),
      [],
      "17408 service ports (64 hosts × 17 ports × 16 addresses)",
    ],
    ["ServiceEntry", endpoints(1024), endpoints(1025), [], "262400 endpoints (16 hosts × 16 ports × 1025 endpoints)"],
    ["VirtualService", service(50, 500), service(5_000, 500), [], "MiB of routes (5000 hosts × "],
    [
      "VirtualService",
      { ...service(1, 500) },
      { ...service(2, 500), gateways: times(300, (at) => `a/g${at}`) },
      [],
      "2 hosts × 300 gateways × ",
    ],
    [
      "Sidecar",
      { egress: times(256, egress) },
      { egress: times(257, egress) },
      ["egress"],
      "has 257 entries; the limit is 256",
    ],
    ["Gateway", { servers: times(4096, server) }, { servers: times(4097, server) }, ["servers"], "has 4097 entries"],
    [
      "EnvoyFilter",
      { configPatches: times(1024, () => patch) },
      { configPatches: times(1025, () => patch) },
      ["configPatches"],
      "has 1025 entries",
    ],
    [
      "AuthorizationPolicy",
      policy(100, 1_000),
      policy(1_000, 1_000),
      ["rules", 0],
      "MiB of conditions (1001 sources and operations × ",
    ],
  ] as const)("is refused by name where it is a %s beyond the limit", (kind, within, beyond, path, words) => {
    expect(saidOf(object(kind, within))).toEqual([]);
    const [said, ...more] = saidOf(object(kind, beyond));
    expect(more).toEqual([]);
    expect(said).toMatchObject({
      severity: "error",
      path: ["spec", ...path],
      origin: { key: { kind, namespace: "evil", name: "large" }, file: "a.yaml", line: 1 },
    });
    expect(said?.message).toContain(words);
    expect(readFiles([{ file: "a.yaml", text: object(kind, beyond) }]).configs).toEqual([]);
  });

  it("costs none of its neighbours when it is compiled", () => {
    const texts = [
      object("ServiceEntry", entry(256, 256, 256)),
      object("ServiceEntry", entry(1, 1, 1), "small"),
      world,
    ];
    const { value, diagnostics } = createFileCompiler(defaultWorldOptions)(
      [{ file: "a.yaml", text: texts.join("\n---\n") }],
      [],
    );
    expect(diagnostics.map(({ code, origin }) => `${code} ${origin.key.name}`)).toEqual(["too-large large"]);
    expect(JSON.stringify(value.classes.map(({ id }) => id))).toContain("sidecar");
  });
});

function egress(at: number) {
  return { port: { number: 1_000 + at, name: `tcp-${at}`, protocol: "TCP" }, hosts: ["./*"] };
}

const world = `apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop, labels: {security.istio.io/tlsMode: istio}}
spec: {containers: [{name: istio-proxy}]}
status: {phase: Running, podIP: 10.0.0.1}
`;

describe("a delegate and the route that names it", () => {
  const pair = (matches: number): string =>
    [
      object(
        "VirtualService",
        {
          hosts: ["shop.example"],
          http: [
            {
              match: times(matches, (at) => ({ headers: { [`h${at}`]: { exact: "x" } } })),
              delegate: { name: "part" },
            },
            { route: to },
          ],
        },
        "root",
      ),
      object(
        "VirtualService",
        { http: [{ match: times(matches, (at) => ({ queryParams: { [`q${at}`]: { exact: "y" } } })), route: to }] },
        "part",
      ),
    ].join("\n---\n");
  const compile = (matches: number) =>
    createFileCompiler(defaultWorldOptions)([{ file: "a.yaml", text: `${pair(matches)}\n---\n${world}` }], []);

  it("are merged where their matches come to little", () => {
    expect(compile(20).diagnostics).toEqual([]);
  });

  it("are not merged where they would come to more than the limit, and the other routes stay", () => {
    const { diagnostics } = compile(2_000);
    expect(diagnostics.find(({ code }) => code === "too-large")).toMatchObject({
      severity: "warning",
      origin: { key: { name: "root" } },
      path: ["spec", "http", 0, "delegate"],
      message: expect.stringMatching(/with delegate evil\/part this route expands to about \d+ MiB of routes/),
    });
  });
});
