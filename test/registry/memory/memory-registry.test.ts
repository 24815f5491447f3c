import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { buildRegistry } from "../../../lib/registry/build-registry.ts";
import { discoveryOf } from "../../../lib/registry/discovery.ts";
import { createMemoryRegistry } from "../../../lib/registry/memory/memory-registry.ts";
import { readRegistryFile } from "../../../lib/registry/memory/registry-file.ts";
import { world } from "../objects.ts";

const folder = new URL("../../../../shared/conformance/v1/registry/", import.meta.url);

function content(name: string) {
  return readRegistryFile(JSON.parse(readFileSync(new URL(`${name}.json`, folder), "utf8")), name);
}

describe("a registry file", () => {
  it("gives services with namespace, ports and accounts, and endpoints in the order of the file", () => {
    const { services, endpoints } = content("hello-world");
    expect(services.map(({ hostname, resolution }) => [hostname, resolution])).toEqual([
      ["hello.default.svc.cluster.local", "ClientSideLB"],
      ["world.default.svc.cluster.local", "ClientSideLB"],
      ["httpbin.default.svc.cluster.local", "Passthrough"],
      ["httpsbin.default.svc.cluster.local", "Passthrough"],
    ]);
    expect(services[2]).toMatchObject({ meshExternal: true, attributes: { externalName: "httpbin.org" } });
    const hello = endpoints.get("default/hello.default.svc.cluster.local") ?? [];
    expect(hello).toHaveLength(10);
    expect(hello[1]).toMatchObject({
      addresses: ["10.1.1.0"],
      port: 1081,
      servicePortName: "http-status",
      labels: { version: "v0" },
      locality: { label: "zone/region" },
    });
  });

  it("reads headless services and ports without a name", () => {
    const { services } = content("shop");
    const find = (host: string) => services.find(({ hostname }) => hostname.startsWith(host));
    expect(find("kafka.data")).toMatchObject({ resolution: "Passthrough", meshExternal: false });
    expect(find("single.other")?.ports).toEqual([{ name: "", port: 8000, protocol: "HTTP" }]);
  });

  it("answers the questions of a registry", () => {
    const state = buildRegistry(world([], [], { clusters: [], others: [content("hello-world")] })).value;
    const discovery = discoveryOf(state);
    const hello = discovery.service("hello.default.svc.cluster.local");
    if (hello === undefined) throw new Error("no service");
    const addresses = (port: number, ...labels: Readonly<Record<string, string>>[]) =>
      discovery.instancesByPort(hello, port, labels).map(({ endpoint }) => endpoint.addresses[0]);
    expect(addresses(80)).toEqual(["10.1.1.0", "10.1.1.1"]);
    expect(addresses(80, { version: "v1" })).toEqual(["10.1.1.1"]);
    expect(addresses(80, { version: "v2" }, { version: "v0" })).toEqual(["10.1.1.0"]);
    expect(addresses(0)).toHaveLength(10);
    expect(addresses(4)).toEqual([]);
    const proxy = { id: "x", namespace: "default", addresses: ["10.1.1.0"], clusterId: "", labels: {} };
    expect(discovery.proxyServiceInstances(proxy).map(({ servicePort }) => servicePort.port)).toEqual([
      80, 81, 90, 100, 110,
    ]);
  });

  it("is refused when it is no registry file", () => {
    expect(() => readRegistryFile({ services: [{}] }, "x")).toThrow();
  });
});

describe("a memory registry", () => {
  it("is as before once what was added is removed", () => {
    const registry = createMemoryRegistry(content("shop"));
    const before = registry.content();
    const [service] = content("hello-world").services;
    if (service === undefined) throw new Error("no service");
    registry.putService(service);
    registry.setEndpoints(
      service,
      content("hello-world").endpoints.get("default/hello.default.svc.cluster.local") ?? [],
    );
    expect(registry.content().services).toHaveLength(before.services.length + 1);
    registry.removeService(service);
    expect(registry.content()).toEqual(before);
  });

  it("replaces a service that it has", () => {
    const registry = createMemoryRegistry(content("hello-world"));
    const [service] = registry.content().services;
    if (service === undefined) throw new Error("no service");
    registry.putService({ ...service, defaultAddress: "10.9.9.9" });
    expect(registry.content().services.map(({ defaultAddress }) => defaultAddress)[0]).toBe("10.9.9.9");
    expect(registry.content().services).toHaveLength(4);
  });
});
