import { describe, expect, it } from "vitest";
import { servicePort } from "../../../lib/cli/inspect/service-port.ts";
import type { RootObject, RootObjects } from "../../../lib/xds/explain/root-object.ts";

const object = (kind: string, name: string, spec: unknown, labels: RootObject["labels"] = {}): RootObject => ({
  key: `${kind}/shop/${name}`,
  file: "a.yaml",
  line: 1,
  kind,
  namespace: "shop",
  name,
  labels,
  spec,
});
const objectsOf = (...all: readonly RootObject[]): RootObjects => ({
  all,
  get: (key) => all.find((one) => one.key === key),
  placeOf: ({ file, line }) => `${file}:${line}`,
});

const container = { ports: [{ name: "web", containerPort: 8443 }] };
const pod = object("Pod", "gateway-1", { containers: [container] }, { app: "gateway" });
const service = (name: string, ports: readonly object[], selector: object = { app: "gateway" }) =>
  object("Service", name, { selector, ports });
const led = (objects: RootObjects, port: number, host = "shop.example", node = "gateway-1.shop") => {
  const found = servicePort(
    objects,
    {
      listeners: [{ address: { socketAddress: { portValue: 9000 } } }],
      routes: new Map(),
      clusters: new Map(),
      endpoints: new Map(),
    },
    node,
    { host, port },
  );
  return found === undefined ? undefined : `${found.service} ${found.targetPort}`;
};

describe("the port behind a Service's", () => {
  it("is its target, by number or by a name that a container has", () => {
    const ports = [
      { port: 80, targetPort: 8080 },
      { port: 443, targetPort: "web" },
      { port: 81, targetPort: "none" },
      { port: 82 },
      { port: 9000, targetPort: 1 },
    ];
    const objects = objectsOf(pod, service("a", ports));
    expect([80, 443, 81, 82, 83, 9000].map((port) => led(objects, port))).toEqual([
      "Service/shop/a 8080",
      "Service/shop/a 8443",
      undefined,
      undefined,
      undefined,
      // The proxy listens there itself.
      undefined,
    ]);
  });

  it("is that of a Service that selects the workload: the one that the host names, else the first", () => {
    const to = (targetPort: number) => [{ port: 80, targetPort }];
    const objects = objectsOf(
      pod,
      service("b", to(2)),
      service("a", to(1)),
      service("other", to(3), { app: "x" }),
      service("all", to(4), {}),
    );
    expect(led(objects, 80)).toBe("Service/shop/a 1");
    expect(led(objects, 80, "b.shop.svc.cluster.local")).toBe("Service/shop/b 2");
    expect(led(objects, 80, "shop.example", "nobody.shop")).toBeUndefined();
  });

  it("is known of a template's workload, and of one that is no pod", () => {
    const template = { metadata: { labels: { app: "gateway" } }, spec: { containers: [container] } };
    const ports = [{ port: 443, targetPort: "web" }];
    expect(led(objectsOf(object("Deployment", "gateway-1", { template }), service("a", ports)), 443)).toBe(
      "Service/shop/a 8443",
    );
    const machine = object("WorkloadEntry", "gateway-1", { labels: { app: "gateway" } });
    expect(led(objectsOf(machine, service("a", [{ port: 80, targetPort: 8080 }])), 80)).toBe("Service/shop/a 8080");
  });
});
