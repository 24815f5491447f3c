import { describe, expect, it } from "vitest";
import type { ServiceEntry } from "../../../lib/config/kinds/service-entry.ts";
import { buildRegistry } from "../../../lib/registry/build-registry.ts";
import { selectedWorkloads } from "../../../lib/registry/service-entry/convert-endpoints.ts";
import { entryServices, serviceAddress } from "../../../lib/registry/service-entry/convert-services.ts";
import { selectableEntry } from "../../../lib/registry/service-entry/workload.ts";
import { pod, serviceEntry, workloadEntry, world } from "../objects.ts";

const entrySettings = { clusterId: "Kubernetes", trustDomain: "cluster.local", networkOf: () => "" };

/** The worked example of the reference sheet. */
const ext: ServiceEntry = {
  hosts: ["a.example.com", "*.b.example.com"],
  addresses: ["10.1.0.0/16", "10.2.3.4/32"],
  ports: [
    { number: 80, name: "http", protocol: "HTTP" },
    { number: 443, name: "tls", protocol: "TLS", targetPort: 8443 },
  ],
  resolution: "STATIC",
  location: "MESH_INTERNAL",
  exportTo: ["."],
  endpoints: [
    { address: "1.1.1.1", ports: { http: 8080 }, labels: { version: "v1" }, serviceAccount: "sa" },
    { address: "2.2.2.2", network: "n2" },
  ],
};

function endpointsOf(entry: ServiceEntry, host: string, configs: Parameters<typeof world>[1] = []) {
  const state = buildRegistry(world([], [serviceEntry("app/ext", entry), ...configs])).value;
  return state.endpoints.get(`app/${host}`) ?? [];
}

describe("the workload of a WorkloadEntry", () => {
  it.each([
    [{}, {}, "vm-1"],
    [{ "service.istio.io/workload-name": "db" }, {}, "db"],
    [{ "service.istio.io/workload-name": "db" }, { "istio.io/autoRegistrationGroup": "dbs" }, "dbs"],
  ])("with labels %j and annotations %j is called %s", (labels, annotations, want) => {
    const entry = workloadEntry("app/vm-1", { address: "10.5.0.1", labels }, { annotations });
    expect(selectableEntry(entry, entrySettings).endpoint.workloadName).toBe(want);
  });
});

describe("the services of a ServiceEntry", () => {
  it("are one for each host and address", () => {
    const { services } = entryServices(serviceEntry("app/ext", ext, { creationTimestampMs: 7 }));
    expect(services.map(({ hostname, defaultAddress }) => [hostname, defaultAddress])).toEqual([
      ["a.example.com", "10.1.0.0/16"],
      ["a.example.com", "10.2.3.4"],
      ["*.b.example.com", "10.1.0.0/16"],
      ["*.b.example.com", "10.2.3.4"],
    ]);
    expect(services[0]).toMatchObject({
      resolution: "ClientSideLB",
      meshExternal: false,
      creationTimestampMs: 7,
      attributes: { name: "a.example.com", objectName: "ext", namespace: "app", exportTo: ["."] },
      ports: [
        { name: "http", port: 80, protocol: "HTTP" },
        { name: "tls", port: 443, protocol: "TLS" },
      ],
    });
  });

  it("are external and pass traffic through when the entry says neither location nor resolution", () => {
    const [made] = entryServices(
      serviceEntry("app/ext", { hosts: ["x.example"], ports: [{ number: 80, name: "http", targetPort: 81 }] }),
    ).services;
    expect(made).toMatchObject({ meshExternal: true, resolution: "Passthrough", defaultAddress: "0.0.0.0" });
    expect(made?.attributes.passthroughTargetPorts?.get(80)).toBe(81);
  });

  it("are none, with a note, when no address can be read", () => {
    const { services, diagnostics } = entryServices(
      serviceEntry("app/ext", { ...ext, addresses: ["nowhere", "1.2.3"] }),
    );
    expect(services).toEqual([]);
    expect(diagnostics.map(({ code }) => code)).toEqual(["service-entry-without-valid-address"]);
  });

  it("take allocated addresses by host from the status, if the entry states none", () => {
    const status = {
      addresses: [
        { host: "a.example", value: "240.240.0.1" },
        { host: "a.example", value: "2001:2::1" },
        { host: "b.example", value: "240.240.0.2" },
        { host: "b.example", value: "nonsense" },
      ],
    };
    const entry = { ...serviceEntry("app/ext", { hosts: ["a.example", "b.example", "c.example"] }), status };
    expect(entryServices(entry).services.map((made) => [made.autoAllocatedIPv4, made.autoAllocatedIPv6])).toEqual([
      ["240.240.0.1", "2001:2::1"],
      ["240.240.0.2", ""],
      ["", ""],
    ]);
  });

  it.each([
    ["10.0.0.1", "10.0.0.1"],
    ["10.0.0.1/32", "10.0.0.1"],
    ["10.0.0.0/8", "10.0.0.0/8"],
    ["2001:db8::1", "2001:db8::1"],
    ["2001:db8::1/128", "2001:db8::1"],
    ["10.1", undefined],
    ["host", undefined],
  ])("write address %s as %s", (text, want) => {
    expect(serviceAddress(text)).toBe(want);
  });
});

describe("the endpoints of a ServiceEntry", () => {
  it("are its own for each port and each of its addresses", () => {
    const made = endpointsOf(ext, "a.example.com");
    expect(made.map(({ addresses, port, servicePortName }) => `${addresses[0]}:${port} ${servicePortName}`)).toEqual([
      "1.1.1.1:8080 http",
      "1.1.1.1:8443 tls",
      "2.2.2.2:80 http",
      "2.2.2.2:8443 tls",
      "1.1.1.1:8080 http",
      "1.1.1.1:8443 tls",
      "2.2.2.2:80 http",
      "2.2.2.2:8443 tls",
    ]);
    expect(made[0]).toMatchObject({
      serviceAccount: "spiffe://cluster.local/ns/app/sa/sa",
      tlsMode: "istio",
      workloadName: "ext-0",
      labels: { version: "v1" },
    });
    expect(made[2]).toMatchObject({ serviceAccount: "", tlsMode: "disabled", network: "n2", workloadName: "ext-1" });
  });

  it("are the host itself where names are resolved and none are given", () => {
    const { endpoints: _none, addresses: _no, ...entry } = ext;
    const made = endpointsOf({ ...entry, hosts: ["a.example.com"], resolution: "DNS" }, "a.example.com");
    expect(made.map(({ addresses, port, workloadName }) => [addresses[0], port, workloadName])).toEqual([
      ["a.example.com", 80, "ext"],
      ["a.example.com", 8443, "ext"],
    ]);
  });

  it.each(["NONE", "STATIC", "DYNAMIC_DNS"] as const)("are none with resolution %s and none given", (resolution) => {
    const { endpoints: _none, ...entry } = ext;
    expect(endpointsOf({ ...entry, resolution }, "a.example.com")).toEqual([]);
  });

  it("are one for each port with round-robin DNS, the one of the oldest entry", () => {
    const one = (address: string): ServiceEntry => ({
      hosts: ["r.example"],
      resolution: "DNS_ROUND_ROBIN",
      ports: [{ number: 80, name: "http", protocol: "HTTP" }],
      endpoints: [{ address }],
    });
    const configs = [
      serviceEntry("app/younger", one("b.example"), { creationTimestampMs: 2 }),
      serviceEntry("app/older", one("a.example"), { creationTimestampMs: 1 }),
    ];
    const { value } = buildRegistry(world([], configs));
    expect(value.endpoints.get("app/r.example")?.map(({ addresses }) => addresses)).toEqual([["a.example"]]);
  });

  it("with round-robin DNS are left out where an older entry of any resolution has the port", () => {
    const entry = (resolution: ServiceEntry["resolution"], address: string): ServiceEntry => ({
      hosts: ["r.example"],
      ...(resolution === undefined ? {} : { resolution }),
      ports: [{ number: 80, name: "http", protocol: "HTTP" }],
      endpoints: [{ address }],
    });
    const { value } = buildRegistry(
      world(
        [],
        [
          serviceEntry("app/younger", entry("DNS_ROUND_ROBIN", "b.example"), { creationTimestampMs: 2 }),
          serviceEntry("app/older", entry("DNS", "a.example"), { creationTimestampMs: 1 }),
        ],
      ),
    );
    expect(value.endpoints.get("app/r.example")?.map(({ addresses }) => addresses)).toEqual([["a.example"]]);
  });

  it("of a socket have its path and no port", () => {
    const entry: ServiceEntry = { ...ext, addresses: [], endpoints: [{ address: "unix:///run/x.sock" }] };
    expect(endpointsOf(entry, "a.example.com")[0]).toMatchObject({ unixPath: "/run/x.sock", port: 0 });
  });
});

describe("a workload selector", () => {
  const entry = (resolution: ServiceEntry["resolution"], labels: Readonly<Record<string, string>>) =>
    serviceEntry("ns1/se", {
      hosts: ["h.example"],
      workloadSelector: { labels },
      ...(resolution === undefined ? {} : { resolution }),
    });
  const choose = (address: string, labels: Readonly<Record<string, string>>, meta = {}) =>
    selectableEntry(workloadEntry("ns1/vm", { address, labels }, meta), entrySettings);

  it.each([
    { what: "more labels", workload: choose("10.0.0.1", { app: "x", v: "1" }), resolution: "STATIC", want: true },
    {
      what: "metadata that says otherwise than the spec",
      workload: choose("10.0.0.1", { app: "x" }, { labels: { app: "y" } }),
      resolution: "STATIC",
      want: false,
    },
    { what: "a host name, STATIC", workload: choose("vm.example", { app: "x" }), resolution: "STATIC", want: false },
    { what: "a host name, DNS", workload: choose("vm.example", { app: "x" }), resolution: "DNS", want: true },
    { what: "a socket", workload: choose("unix:///s", { app: "x" }), resolution: "STATIC", want: false },
  ] as const)("chooses a workload with $what: $want", ({ workload, resolution, want }) => {
    expect(selectedWorkloads(entry(resolution, { app: "x" }), [workload]).length > 0).toBe(want);
  });

  it("without labels chooses nothing", () => {
    expect(selectedWorkloads(entry("STATIC", {}), [choose("10.0.0.1", { app: "x" })])).toEqual([]);
  });

  it("chooses pods and WorkloadEntries of its namespace, pods first, and only healthy ones", () => {
    const spec: ServiceEntry = {
      hosts: ["h.example"],
      resolution: "STATIC",
      ports: [{ number: 80, name: "http", protocol: "HTTP" }],
      workloadSelector: { labels: { app: "x" } },
    };
    const vm = (key: string, ip: string) => workloadEntry(key, { address: ip, labels: { app: "x" } });
    const sick = workloadEntry(
      "ns1/sick",
      { address: "10.0.0.9", labels: { app: "x" } },
      { annotations: { "proxy.istio.io/health-checks-enabled": "true" } },
    );
    const well = { ...sick, status: { conditions: [{ type: "Healthy", status: "True" }] } };
    const objects = [
      pod("ns1/z", "10.0.0.3", { app: "x" }, { containers: [{ ports: [{ name: "http", containerPort: 8080 }] }] }),
      pod("ns1/unready", "10.0.0.4", { app: "x" }, {}, { conditions: [] }),
      pod("ns2/other", "10.0.0.5", { app: "x" }),
    ];
    const chosen = (...configs: Parameters<typeof world>[1] & object) =>
      buildRegistry(world(objects, [serviceEntry("ns1/se", spec), ...configs]))
        .value.endpoints.get("ns1/h.example")
        ?.map(({ addresses, port }) => `${addresses[0]}:${port}`);
    expect(chosen(vm("ns1/b", "10.0.0.2"), vm("ns1/a", "10.0.0.1"), vm("ns2/c", "10.0.0.6"), sick)).toEqual([
      "10.0.0.3:8080",
      "10.0.0.1:80",
      "10.0.0.2:80",
    ]);
    expect(chosen({ ...well, meta: { ...well.meta, name: "well" } })).toEqual(["10.0.0.3:8080", "10.0.0.9:80"]);
  });
});
