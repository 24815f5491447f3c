import { Session } from "node:inspector/promises";
import { describe, expect, it } from "vitest";
import { createFileCompiler } from "../../lib/compile/compile-files.ts";
import { defaultWorldOptions } from "../../lib/compile/world-of.ts";

/**
 * How much code a function has run: how often each block of every file's code was entered. It is the same on a busy machine, where time is not.
 */
async function workOf(run: () => void): Promise<number> {
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
    // What has run before does not count.
    await session.post("Profiler.takePreciseCoverage");
    run();
    const { result } = await session.post("Profiler.takePreciseCoverage");
    const files = result.filter(({ url }) => url.startsWith("file:"));
    return files
      .flatMap(({ functions }) => functions)
      .flatMap(({ ranges }) => ranges)
      .reduce((sum, { count }) => sum + count, 0);
  } finally {
    await session.post("Profiler.stopPreciseCoverage");
    session.disconnect();
  }
}

/** By how much the work grows where its input is four times as long: by 4 where each element costs the same, by 16 where each meets all others. */
async function growthOf(work: (count: number) => () => void, count: number): Promise<number> {
  const small = await workOf(work(count));
  return (await workOf(work(count * 4))) / small;
}

/** Above what a constant part and the logarithm of a sort add to 4. */
const mostGrowth = 5.5;

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);
const base = `
apiVersion: v1
kind: Service
metadata: {name: mal, namespace: evil}
spec: {clusterIP: 10.0.0.3, selector: {app: mal}, ports: [{name: http, port: 80}]}
---
apiVersion: v1
kind: Pod
metadata: {name: mal-1, namespace: evil, labels: {app: mal, security.istio.io/tlsMode: istio}}
spec: {serviceAccountName: mal, containers: [{name: c}, {name: istio-proxy}]}
status: {phase: Running, podIP: 10.1.0.3, conditions: [{type: Ready, status: "True"}]}
`;

const inEvil = (kind: string, version: string, spec: object): string =>
  JSON.stringify({
    apiVersion: `networking.istio.io/${version}`,
    kind,
    metadata: { name: "x", namespace: "evil" },
    spec,
  });

const hosts = (count: number): string =>
  inEvil("VirtualService", "v1", {
    hosts: numbers(count).map((i) => `h${i}.example.com`),
    http: [{ route: [{ destination: { host: "mal.evil.svc.cluster.local" } }] }],
  });

const patches = (count: number): string =>
  inEvil("EnvoyFilter", "v1alpha3", {
    configPatches: numbers(count).map((i) => ({
      applyTo: "CLUSTER",
      patch: { operation: "MERGE", value: { metadata: { filter_metadata: { [`k${i}`]: { v: "x".repeat(100) } } } } },
    })),
  });

const faultyList = (count: number): string => {
  const item = (i: number) =>
    `- {apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {name: v${i}, namespace: a}, spec: {hosts: [a${i}.b], htp: []}}`;
  return `kind: List\nitems:\n${numbers(count).map(item).join("\n")}\n`;
};

const compiling = (textOf: (count: number) => string) => (count: number) => {
  const files = [
    { file: "base.yaml", text: base },
    { file: "x.yaml", text: textOf(count) },
  ];
  return () => {
    const { value } = createFileCompiler({ ...defaultWorldOptions, binaryForms: false })(files, []);
    expect(value.classes.length).toBeGreaterThan(0);
  };
};

describe("the work of a compile", () => {
  it.each([
    ["hosts of one VirtualService", hosts, 2_500],
    ["MERGE patches of one EnvoyFilter", patches, 250],
    ["faulty items of one List", faultyList, 200],
  ] as const)(
    "grows as the number of %s",
    async (_what, textOf, count) => {
      // What is made once, and what later compiles find made.
      compiling(textOf)(10)();
      const growth = await growthOf(compiling(textOf), count);
      expect(growth).toBeGreaterThan(1);
      expect(growth).toBeLessThan(mostGrowth);
    },
    180_000,
  );

  it("would be seen to grow with the square", async () => {
    const square = (count: number) => () => {
      let met = 0;
      for (const one of numbers(count)) for (const other of numbers(count)) if (one === other) met += 1;
      expect(met).toBe(count);
    };
    expect(await growthOf(square, 1_000)).toBeGreaterThan(mostGrowth * 2);
  });
});
