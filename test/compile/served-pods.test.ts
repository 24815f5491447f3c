import { describe, expect, it } from "vitest";
import { compile } from "../../lib/compile/compile.ts";
import { createFileCompiler } from "../../lib/compile/compile-files.ts";
import { defaultWorldOptions, worldOf } from "../../lib/compile/world/world-of.ts";
import { readFiles } from "../../lib/config/folder/directory.ts";
import { createMemo } from "../../lib/incremental/memo.ts";
import type { CompiledWorld } from "../../lib/snapshot/compiled.ts";
import { resourcesIn } from "../../lib/snapshot/compiled.ts";
import { bare, filesOf, networking, podText } from "./pods/manifests.ts";

const service = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "web", namespace: "shop" },
  spec: { clusterIP: "10.0.0.1", selector: { app: "web" }, ports: [{ name: "http", port: 80, targetPort: 8080 }] },
};

/** The same pod with a sidecar under several names, each with annotations of its own. */
const web = (name: string, annotations: Readonly<Record<string, string>> = {}): object =>
  bare(name, annotations, { app: "web" });

function compiled(objects: readonly (object | string)[], mesh = ""): CompiledWorld {
  const memo = createMemo();
  return compile(worldOf(readFiles(filesOf(objects, mesh)), defaultWorldOptions, memo).value, [], memo).value;
}

/** The class of a pod, by `name.namespace`. */
const classOf = ({ nodes }: CompiledWorld, pod: string) => nodes.find(({ keys }) => keys.includes(pod))?.classId;

/** One listener of the class of a pod, as text. */
function listener(world: CompiledWorld, pod: string, name: string): string | undefined {
  const { stream } = world.classes.find(({ id }) => id === classOf(world, pod)) ?? {};
  return resourcesIn(stream?.listeners ?? []).find((resource) => resource.name === name)?.text;
}

describe("what a pod is served", () => {
  it("is transparent for TPROXY, and not captured for NONE", () => {
    const world = compiled([
      service,
      web("tproxy", { "sidecar.istio.io/interceptionMode": "TPROXY" }),
      web("none", { "sidecar.istio.io/interceptionMode": "NONE" }),
      web("plain"),
    ]);
    expect(listener(world, "tproxy.shop", "virtualInbound")).toContain('"transparent":true');
    expect(listener(world, "plain.shop", "virtualInbound")).not.toContain('"transparent"');
    expect(listener(world, "none.shop", "virtualInbound")).toBeUndefined();
  });

  it("is transparent for an injected pod whose container says TPROXY", () => {
    expect(listener(compiled([podText("native-sidecar")]), "ledger-0.shop", "virtualInbound")).toContain(
      '"transparent":true',
    );
  });

  it("samples as its annotation says, with its tags and headers", () => {
    const settings = `
      tracing: {sampling: 42, customTags: {team: {literal: {value: books}}}}
      proxyHeaders: {server: {value: own}}`;
    const inbound = listener(
      compiled([service, web("a", { "proxy.istio.io/config": settings })]),
      "a.shop",
      "virtualInbound",
    );
    expect(inbound).toContain('"randomSampling":{"value":42}');
    expect(inbound).toContain('"tag":"team"');
    expect(inbound).toContain('"serverName":"own"');
  });

  it("trusts as many hops as a gateway's annotation says", () => {
    const gateway = networking(
      "Gateway",
      "g",
      {
        selector: { istio: "ingress" },
        servers: [{ port: { number: 8080, name: "http", protocol: "HTTP" }, hosts: ["*"] }],
      },
      { namespace: "edge" },
    );
    const world = compiled([podText("gateway"), gateway]);
    expect(listener(world, "ingress-6c5d9-abcde.edge", "0.0.0.0_8080")).toContain('"xffNumTrustedHops":2');
  });

  it("depends on metadata that a ProxyConfig object gives to its node", () => {
    const object = networking("ProxyConfig", "c", { environmentVariables: { ISTIO_META_HTTP10: "1" } });
    expect(listener(compiled([service, web("a"), object]), "a.shop", "virtualInbound")).toContain(
      '"acceptHttp10":true',
    );
  });

  it("is that of its neighbours if it differs in nothing that answers depend on", () => {
    const settings =
      "{concurrency: 2, holdApplicationUntilProxyStarts: true, proxyStatsMatcher: {inclusionPrefixes: [a]}}";
    const world = compiled([service, web("a", { "proxy.istio.io/config": settings }), web("b")]);
    expect(classOf(world, "a.shop")).toBe(classOf(world, "b.shop"));
  });
});

describe("the default class of a namespace", () => {
  it("is that of a pod that says nothing, whoever comes first", () => {
    const world = compiled([
      service,
      web("a", { "sidecar.istio.io/interceptionMode": "TPROXY", "proxy.istio.io/config": "tracing: {sampling: 42}" }),
      bare("z", {}, { app: "z" }),
    ]);
    expect(world.classifier.defaults["sidecar/shop"]).toBe(classOf(world, "z.shop"));
  });
});

describe("a warm compiler", () => {
  it("answers as a fresh one after each change of what proxies are made from", () => {
    const object = (environment: string) =>
      networking("ProxyConfig", "c", { environmentVariables: { ISTIO_META_IDLE_TIMEOUT: environment } });
    const group = (sampling: number) =>
      networking(
        "WorkloadGroup",
        "vms",
        { template: {} },
        { annotations: { "proxy.istio.io/config": `tracing: {sampling: ${sampling}}` } },
      );
    const entry = networking(
      "WorkloadEntry",
      "vm",
      { address: "10.2.0.1", serviceAccount: "vm", labels: { app: "web" } },
      { annotations: { "istio.io/autoRegistrationGroup": "vms" } },
    );
    const tproxy = web("a", { "sidecar.istio.io/interceptionMode": "TPROXY" });
    const injected = podText("native-sidecar");
    const steps: readonly (readonly [readonly (object | string)[], string])[] = [
      [[service, web("a")], ""],
      [[service, tproxy], ""],
      [[service, tproxy, object("10s")], ""],
      [[service, tproxy, object("20s")], ""],
      [[service, web("a"), object("20s")], "defaultConfig: {tracing: {sampling: 3}}"],
      [[service, web("a"), entry], "defaultConfig: {tracing: {sampling: 3}}"],
      [[service, web("a"), entry, group(5)], ""],
      [[service, web("a"), entry, group(6), injected], ""],
      [[service, web("a"), entry, injected.replace("value: TPROXY}", "value: REDIRECT}")], ""],
      [[service, web("a")], ""],
    ];
    const warm = createFileCompiler(defaultWorldOptions);
    for (const [objects, mesh] of steps) {
      const files = filesOf(objects, mesh);
      expect(warm(files, []).value).toEqual(createFileCompiler(defaultWorldOptions)(files, []).value);
    }
  });
});
