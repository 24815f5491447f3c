import { describe, expect, it } from "vitest";
import type { Config } from "../../lib/config/config.ts";
import type { ServiceEntry } from "../../lib/config/kinds/service-entry.ts";
import { buildRegistry, createRegistryBuilder } from "../../lib/registry/build-registry.ts";
import { type ChangeSink, endpointPush, reportChanges } from "../../lib/registry/change-sink.ts";
import type { KubernetesObject } from "../../lib/registry/kubernetes/object.ts";
import { pod, service, serviceEntry, slice, workloadEntry, world } from "./objects.ts";

interface Inputs {
  readonly objects?: readonly KubernetesObject[];
  readonly configs?: readonly Config[];
}

/** What a sink hears of a change: `endpoints host` or `reason host`. */
function heard(before: Inputs, after: Inputs): readonly string[] {
  const build = createRegistryBuilder();
  const state = ({ objects = [], configs = [] }: Inputs) => build(world(objects, configs)).value;
  const told: string[] = [];
  const sink: ChangeSink = {
    endpointsChanged: ({ hostname }) => told.push(`endpoints ${hostname}`),
    servicesChanged: ({ hostname }, reason) => told.push(`${reason} ${hostname}`),
  };
  reportChanges(sink, state(before), state(after));
  return told;
}

const base: ServiceEntry = {
  hosts: ["a.example"],
  resolution: "STATIC",
  ports: [{ number: 80, name: "http", protocol: "HTTP" }],
  endpoints: [{ address: "10.0.0.1" }],
};
const entry = (more: Partial<ServiceEntry> = {}, meta: Partial<Config["meta"]> = {}): Inputs => ({
  configs: [serviceEntry("ns/se", { ...base, ...more }, meta)],
});

describe("a change of a ServiceEntry", () => {
  it.each([
    {
      what: "of an endpoint's address, STATIC",
      after: entry({ endpoints: [{ address: "10.0.0.2" }] }),
      want: ["endpoints a.example"],
    },
    {
      what: "of its ports",
      after: entry({ ports: [...(base.ports ?? []), { number: 81, name: "two", protocol: "HTTP" }] }),
      want: ["service-changed a.example"],
    },
    {
      what: "of a host",
      before: entry({ hosts: ["a.example", "b.example"] }),
      after: entry({ hosts: ["a.example", "c.example"] }),
      want: ["service-added c.example", "service-removed b.example"],
    },
    {
      what: "of its resource version alone",
      after: entry({}, { resourceVersion: "2", annotations: { "kubectl.kubernetes.io/x": "y" } }),
      want: [],
    },
    {
      what: "of an endpoint's address, DNS",
      before: entry({ resolution: "DNS" }),
      after: entry({ resolution: "DNS", endpoints: [{ address: "b.example" }] }),
      want: ["endpoints-in-configuration a.example"],
    },
    { what: "that adds it", before: {}, after: entry(), want: ["service-added a.example"] },
    { what: "that removes it", after: {}, want: ["service-removed a.example"] },
  ])("$what", ({ before = entry(), after, want }) => {
    expect(heard(before, after)).toEqual(want);
  });

  it("of the weight of a chosen WorkloadEntry touches endpoints only", () => {
    const { endpoints: _none, ...rest } = base;
    const selecting = serviceEntry("ns/se", { ...rest, workloadSelector: { labels: { app: "x" } } });
    const vm = (weight: number) => workloadEntry("ns/vm", { address: "10.0.0.1", labels: { app: "x" }, weight });
    expect(heard({ configs: [selecting, vm(1)] }, { configs: [selecting, vm(2)] })).toEqual(["endpoints a.example"]);
  });
});

describe("a change of Kubernetes objects", () => {
  const cart = service("shop/cart");
  const alone = pod("shop/p", "10.1.0.1");
  const endpoints = slice("shop/cart", ["10.1.0.1=p"]);
  const ready = [cart, alone, endpoints];
  const host = "cart.shop.svc.cluster.local";

  it.each([
    {
      what: "of a pod's label",
      after: [cart, pod("shop/p", "10.1.0.1", { v: "2" }), endpoints],
      want: [`endpoints ${host}`],
    },
    {
      what: "that empties the endpoints",
      after: [cart, alone, slice("shop/cart", [])],
      want: [`endpoints ${host}`],
    },
    {
      what: "of a pod's account",
      after: [cart, pod("shop/p", "10.1.0.1", {}, { serviceAccountName: "other" }), endpoints],
      want: [`accounts-changed ${host}`],
    },
    {
      what: "of a hidden service",
      before: [service("shop/cart", {}, { annotations: { "networking.istio.io/exportTo": "~" } })],
      after: [
        service("shop/cart", { clusterIP: "10.0.0.2" }, { annotations: { "networking.istio.io/exportTo": "~" } }),
      ],
      want: [],
    },
    {
      what: "of the endpoints of a headless TCP service",
      before: [
        service("shop/cart", { clusterIP: "None", ports: [{ name: "tcp", port: 80 }] }),
        slice("shop/cart", ["10.1.0.1"]),
      ],
      after: [
        service("shop/cart", { clusterIP: "None", ports: [{ name: "tcp", port: 80 }] }),
        slice("shop/cart", ["10.1.0.2"]),
      ],
      want: [`endpoints-in-configuration ${host}`],
    },
    {
      what: "of the endpoints of a headless HTTP service",
      before: [service("shop/cart", { clusterIP: "None" }), slice("shop/cart", ["10.1.0.1"])],
      after: [service("shop/cart", { clusterIP: "None" }), slice("shop/cart", ["10.1.0.2"])],
      want: [`endpoints ${host}`],
    },
  ])("$what", ({ before = ready, after, want }) => {
    expect(heard({ objects: before }, { objects: after })).toEqual(want);
  });
});

describe("endpointPush", () => {
  const input = world([service("shop/cart"), slice("shop/cart", ["10.1.0.1", "10.1.0.2"])]);
  const state = buildRegistry(input).value;
  const [cart] = state.services;
  const [one, two] = state.endpoints.get("shop/cart.shop.svc.cluster.local") ?? [];
  if (cart === undefined || one === undefined || two === undefined) throw new Error("no endpoints");
  const sick = { ...two, health: "Unhealthy" as const };

  it.each([
    { what: "the first list ever", before: undefined, after: [one], want: "first-endpoints" },
    { what: "the first list ever, empty", before: undefined, after: [], want: "none" },
    { what: "a list like the one before", before: [one], after: [{ ...one }], want: "none" },
    { what: "an endpoint that never was ready", before: [one], after: [one, sick], want: "none" },
    { what: "an endpoint that became unready", before: [one, two], after: [one, sick], want: "endpoints" },
    { what: "an endpoint that went", before: [one, two], after: [one], want: "endpoints" },
    { what: "endpoints after there were none", before: [], after: [one], want: "endpoints" },
  ])("for $what is $want", ({ before, after, want }) => {
    expect(endpointPush(cart, before, after)).toBe(want);
  });
});
