import { describe, expect, it } from "vitest";
import { defaultMeshConfig } from "../../../lib/config/kinds/mesh-config.ts";
import { clusterLocalHosts, indexServices, serviceAccountsOf } from "../../../lib/mesh/index/service-index.ts";
import { service } from "../parts.ts";

const services = [
  service({ at: "a.x.com@ns1" }),
  service({ at: "b.x.com@ns1", exportTo: ["."] }),
  service({ at: "c.x.com@ns1", exportTo: ["ns2"] }),
  service({ at: "d.x.com@ns1", exportTo: ["~"] }),
  service({ at: "e.x.com@ns1", exportTo: [".", "ns1", "ns3"] }),
  service({ at: "f.x.com@ns1", exportTo: ["*", "~"] }),
];

const visible = (namespace: string, exportDefault: readonly string[]) =>
  indexServices(services, exportDefault)
    .visibleTo(namespace)
    .map((of) => of.hostname[0])
    .join("");

describe("services visible to a namespace", () => {
  it.each([
    { namespace: "ns1", want: "beaf" },
    { namespace: "ns2", want: "caf" },
    { namespace: "ns3", want: "eaf" },
    { namespace: "ns4", want: "af" },
  ])("are those exported to $namespace by name, then the public ones", ({ namespace, want }) => {
    expect(visible(namespace, ["*"])).toBe(want);
  });

  it("follow the mesh's default only where a service declares nothing", () => {
    expect(visible("ns1", ["."])).toBe("abef");
    expect(visible("ns4", ["."])).toBe("f");
    expect(visible("ns1", [])).toBe("bef");
  });
});

describe("services of ServiceEntries under limits", () => {
  const entries = [
    service({ at: "all@home", provider: "External" }),
    service({ at: "own@home", provider: "External", exportTo: ["."] }),
    service({ at: "elsewhere@home", provider: "External", exportTo: ["guest"] }),
    service({ at: "kubernetes@home" }),
  ];
  const seenFrom = (limit: "PUBLIC" | "NAMESPACE" | "NONE", namespace: string, others = limit) =>
    indexServices(entries, ["*"], { byNamespace: { home: limit }, others })
      .visibleTo(namespace)
      .map(({ hostname }) => hostname);

  it("are never seen further than they are exported, and those of Kubernetes as ever", () => {
    expect(seenFrom("PUBLIC", "home", "NONE")).toEqual(["own", "all", "kubernetes"]);
    expect(seenFrom("PUBLIC", "guest")).toEqual(["elsewhere", "all", "kubernetes"]);
    expect(seenFrom("NAMESPACE", "home")).toEqual(["all", "own", "kubernetes"]);
    expect(seenFrom("NAMESPACE", "guest")).toEqual(["kubernetes"]);
    expect(seenFrom("NONE", "home")).toEqual(["kubernetes"]);
  });
});

describe("a host in several namespaces", () => {
  const older = service({ at: "h.x.com@ns2", provider: "External", age: 9 });
  const kubernetes = service({ at: "h.x.com@ns3" });
  const hidden = service({ at: "h.x.com@ns4", exportTo: ["."] });
  const index = indexServices([older, kubernetes, hidden], ["*"]);

  it("means the own namespace's service, else a Kubernetes one, whatever its age", () => {
    expect(index.visibleService("h.x.com", "ns4")).toBe(hidden);
    expect(index.visibleService("h.x.com", "ns1")).toBe(kubernetes);
  });

  it("in one namespace gives way to a Kubernetes service", () => {
    const squatter = service({ at: "h.x.com@ns3", provider: "External", age: 9 });
    expect(indexServices([squatter, kubernetes], ["*"]).byHostname.get("h.x.com")?.get("ns3")).toBe(kubernetes);
  });
});

describe("several services of one host and namespace", () => {
  it("go by the youngest of them where only one can count", () => {
    const [first, second] = [service({ at: "h.x.com@ns1", age: 9 }), service({ at: "h.x.com@ns1" })];
    const elsewhere = service({ at: "h.x.com@ns2" });
    const index = indexServices([first, second, elsewhere], ["*"]);
    expect(index.youngest(first)).toBe(second);
    expect(index.youngest({ ...first, ports: [] })).toBe(second);
    expect(index.youngest(elsewhere)).toBe(elsewhere);
  });
});

describe("service accounts", () => {
  it("are written in every trust domain of the mesh, sorted", () => {
    const declared = { ...service({ at: "a@ns1" }), serviceAccounts: ["spiffe://td/ns/x/sa/y", "free text"] };
    expect(serviceAccountsOf(declared, [], ["old"])).toEqual([
      "free text",
      "spiffe://old/ns/x/sa/y",
      "spiffe://td/ns/x/sa/y",
    ]);
  });
});

describe("cluster-local hosts", () => {
  const isLocal = clusterLocalHosts(
    {
      ...defaultMeshConfig,
      serviceSettings: [
        { settings: { clusterLocal: true }, hosts: ["*.ns1.svc.cluster.local"] },
        { settings: { clusterLocal: false }, hosts: ["b.ns1.svc.cluster.local", "*.kube-system.svc.cluster.local"] },
      ],
    },
    "cluster.local",
  );

  it.each([
    ["a.ns1.svc.cluster.local", true],
    ["b.ns1.svc.cluster.local", false],
    ["a.ns2.svc.cluster.local", false],
    ["dns.kube-system.svc.cluster.local", false],
    ["kubernetes.default.svc.cluster.local", true],
    ["istiod.istio-system.svc.cluster.local", true],
  ])("%s: %s, by the most specific setting, over the built-in ones", (host, want) => {
    expect(isLocal(host)).toBe(want);
  });
});
