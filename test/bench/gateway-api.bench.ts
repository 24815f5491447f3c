/**
 * 1,000 HTTPRoutes on one Gateway beside the same mesh written as VirtualServices, in turns of the same run: from text to bytes that can
 * be published, and after one route changed.
 */
import { compile } from "../../lib/compile/compile.ts";
import { defaultWorldOptions, worldOf } from "../../lib/compile/world/world-of.ts";
import type { Config } from "../../lib/config/config.ts";
import { type LoadedDirectory, readFiles } from "../../lib/config/folder/directory.ts";
import { createMemo, type Memo } from "../../lib/incremental/memo.ts";
import { resourcesIn } from "../../lib/snapshot/compiled.ts";
import { collectYoung } from "../collect-garbage.ts";
import type { BenchOptions, Row } from "./report.ts";
import { type Elapsed, stopwatch, timingOf } from "./yardstick.ts";

const routes = 1000;
const aim = 1.3;

type Form = "HTTPRoute" | "VirtualService";

/** One gateway, services, and a route for each of them, as JSON documents. */
function meshText(form: Form): string {
  const objects: object[] = [
    serviceObject("edge", { app: "edge" }),
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "edge-1", namespace: "shop", labels: { app: "edge" } },
      spec: { containers: [{ name: "istio-proxy", args: ["proxy", "router"] }] },
      status: { phase: "Running", podIP: "10.0.0.1", conditions: [{ type: "Ready", status: "True" }] },
    },
    form === "HTTPRoute" ? kubernetesGateway : istioGateway,
  ];
  for (let n = 0; n < routes; n += 1) {
    const name = `service-${n}`;
    objects.push(serviceObject(`${name}-a`), serviceObject(`${name}-b`));
    objects.push(form === "HTTPRoute" ? httpRoute(name) : virtualService(name));
  }
  return objects.map((object) => JSON.stringify(object)).join("\n---\n");
}

const serviceObject = (name: string, selector: object = { app: name }): object => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, namespace: "shop" },
  spec: { selector, ports: [{ name: "http", port: 80 }] },
});

const kubernetesGateway = {
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "Gateway",
  metadata: { name: "edge", namespace: "shop" },
  spec: {
    gatewayClassName: "istio",
    addresses: [{ type: "Hostname", value: "edge" }],
    listeners: [{ name: "web", port: 80, protocol: "HTTP" }],
  },
};

const istioGateway = {
  apiVersion: "networking.istio.io/v1",
  kind: "Gateway",
  metadata: { name: "edge", namespace: "shop" },
  spec: {
    selector: { app: "edge" },
    servers: [{ port: { number: 80, name: "http", protocol: "HTTP" }, hosts: ["*"] }],
  },
};

const httpRoute = (name: string): object => ({
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "HTTPRoute",
  metadata: { name, namespace: "shop" },
  spec: {
    parentRefs: [{ name: "edge" }],
    hostnames: [`${name}.example.com`],
    rules: [
      {
        matches: [{ path: { type: "PathPrefix", value: "/api" }, headers: [{ name: "x-team", value: "a" }] }],
        timeouts: { request: "10s" },
        backendRefs: [{ name: `${name}-a`, port: 80 }],
      },
      {
        backendRefs: [
          { name: `${name}-a`, port: 80, weight: 90 },
          { name: `${name}-b`, port: 80, weight: 10 },
        ],
      },
    ],
  },
});

const virtualService = (name: string): object => ({
  apiVersion: "networking.istio.io/v1",
  kind: "VirtualService",
  metadata: { name, namespace: "shop" },
  spec: {
    hosts: [`${name}.example.com`],
    gateways: ["edge"],
    http: [
      {
        match: [{ uri: { prefix: "/api" }, headers: { "x-team": { exact: "a" } } }],
        timeout: "10s",
        route: [{ destination: { host: `${name}-a`, port: { number: 80 } } }],
      },
      {
        match: [{ uri: { prefix: "/" } }],
        route: [
          { destination: { host: `${name}-a`, port: { number: 80 } }, weight: 90 },
          { destination: { host: `${name}-b`, port: { number: 80 } }, weight: 10 },
        ],
      },
    ],
  },
});

const read = (form: Form): LoadedDirectory => readFiles([{ file: "objects.yaml", text: meshText(form) }]);

const compiled = (loaded: LoadedDirectory, memo: Memo) =>
  compile(worldOf(loaded, defaultWorldOptions, memo).value, [], memo);

/** Another timeout in one route. */
function edited(loaded: LoadedDirectory, form: Form, round: number): LoadedDirectory {
  const name = `service-${round % routes}`;
  const change = (config: Config): Config => ({
    ...config,
    spec: JSON.parse(JSON.stringify(config.spec).replace(/"(timeout|request)":"\d+s"/, `"$1":"${11 + round}s"`)),
  });
  const isMeant = ({ meta }: Config): boolean => meta.kind === form && meta.name === name;
  return { ...loaded, configs: loaded.configs.map((config) => (isMeant(config) ? change(config) : config)) };
}

/** The two forms in turns, so that what else the machine does meets both. */
function inTurns(rounds: number, run: (form: Form, round: number) => Elapsed): Record<Form, readonly Elapsed[]> {
  const found: Record<Form, Elapsed[]> = { HTTPRoute: [], VirtualService: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (const form of round % 2 === 0 ? order : order.toReversed()) {
      collectYoung();
      found[form].push(run(form, round));
    }
  }
  return found;
}
const order: readonly Form[] = ["HTTPRoute", "VirtualService"];

export async function gatewayApiBench({ report, quick }: BenchOptions): Promise<void> {
  const texts = { HTTPRoute: meshText("HTTPRoute"), VirtualService: meshText("VirtualService") };
  const cold = inTurns(quick ? 1 : 7, (form) => {
    const elapsed = stopwatch();
    compiled(readFiles([{ file: "objects.yaml", text: texts[form] }]), createMemo());
    return elapsed();
  });
  const states = { HTTPRoute: started("HTTPRoute"), VirtualService: started("VirtualService") };
  const changed = inTurns(quick ? 1 : 60, (form, round) => {
    const state = states[form];
    state.loaded = edited(state.loaded, form, round);
    const elapsed = stopwatch();
    compiled(state.loaded, state.memo);
    return elapsed();
  });
  report.table(`${routes} routes on one gateway`, [
    rowOf("cold: text to bytes", cold, 2),
    rowOf("one route changed, to bytes", changed, 15),
  ]);
  const [ours, theirs] = [states.HTTPRoute, states.VirtualService].map(({ loaded, memo }) =>
    tableKib(compiled(loaded, memo)),
  );
  report.line(`CPU ms, median; the aim is a ratio of at most ${aim}`);
  report.line(`the gateway's route table: ${ours} KiB for HTTPRoutes, ${theirs} KiB for VirtualServices`);
}

/** Of what is answered, most is names: routes of the Gateway API have longer ones, as in Istio. */
function tableKib({ value }: ReturnType<typeof compiled>): number {
  const tables = value.classes.flatMap(({ stream }) => resourcesIn(stream.routes));
  return Math.round(tables.reduce((sum, { text }) => sum + text.length, 0) / 1024);
}

/** A compiler that has compiled the mesh once. */
function started(form: Form): { loaded: LoadedDirectory; readonly memo: Memo } {
  const state = { loaded: read(form), memo: createMemo() };
  compiled(state.loaded, state.memo);
  return state;
}

/** @param warmUp rounds at the beginning that do not count */
function rowOf(what: string, found: Record<Form, readonly Elapsed[]>, warmUp: number): Row {
  const cpuOf = (form: Form): number =>
    timingOf(found[form].slice(found[form].length > warmUp ? warmUp : 0)).medianCpuMs;
  const [ours, theirs] = [cpuOf("HTTPRoute"), cpuOf("VirtualService")];
  return { "": what, HTTPRoutes: ours, VirtualServices: theirs, ratio: ours / theirs, aim };
}
