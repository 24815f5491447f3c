/**
 * Prints how much code compiles of inputs run: how often each block of every file's code was entered. It is the same on a busy machine, where time
 * is not. A process of its own, since blocks are counted in code alone that was loaded after the counting had begun.
 */
import { Session } from "node:inspector/promises";

const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
const { createFileCompiler } = await import("../../lib/compile/compile-files.ts");
const { defaultWorldOptions } = await import("../../lib/compile/world/world-of.ts");

async function workOf(run: () => void): Promise<number> {
  // What has run before does not count.
  await session.post("Profiler.takePreciseCoverage");
  run();
  const { result } = await session.post("Profiler.takePreciseCoverage");
  return result
    .filter(({ url }) => url.startsWith("file:"))
    .flatMap(({ functions }) => functions)
    .flatMap(({ ranges }) => ranges)
    .reduce((sum, { count }) => sum + count, 0);
}

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
    if (value.classes.length === 0) throw new Error("nothing was compiled");
  };
};

/** What the measure itself is tried on. */
const square = (count: number) => () => {
  let met = 0;
  for (const one of numbers(count)) for (const other of numbers(count)) if (one === other) met += 1;
  if (met !== count) throw new Error("each number is itself once");
};

const cases = [
  ["hosts", compiling(hosts), 2_500],
  ["patches", compiling(patches), 250],
  ["items", compiling(faultyList), 200],
  ["square", square, 500],
] as const;

const growth: Record<string, number> = {};
for (const [name, work, count] of cases) {
  // What is made once, and what later compiles find made.
  work(10)();
  const small = await workOf(work(count));
  growth[name] = (await workOf(work(count * 4))) / small;
}
process.stdout.write(`${JSON.stringify(growth)}\n`);
