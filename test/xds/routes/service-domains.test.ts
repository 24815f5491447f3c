import { describe, expect, it } from "vitest";
import { createMemo, noMemo } from "../../../lib/incremental/memo.ts";
import type { Service } from "../../../lib/registry/service.ts";
import { virtualHostName } from "../../../lib/xds/names.ts";
import {
  type DomainPerspective,
  type Domains,
  domainPerspectives,
  serviceDomains,
} from "../../../lib/xds/routes/service-domains.ts";
import { proxy } from "../world-parts.ts";
import { service } from "./fixture.ts";

const host = "reviews.default.svc.cluster.local";
const reviews = service(host, [[9080, "HTTP"]], { clusterVips: new Map([["Kubernetes", ["10.96.5.1"]]]) });

function domainsOf(of: Service, portSuffix: number | undefined, seen: Partial<DomainPerspective>): Domains {
  return serviceDomains(noMemo, { service: of, portSuffix, proxy: domainPerspectives({ ...proxy, ...seen }, noMemo) });
}

describe("serviceDomains", () => {
  const cases: readonly {
    readonly says: string;
    readonly of: Service;
    readonly dnsDomain: string;
    readonly want: readonly string[];
  }[] = [
    {
      says: "gives the bare name to proxies of the service's namespace",
      of: reviews,
      dnsDomain: "default.svc.cluster.local",
      want: [host, `${host}.`, "reviews", "reviews.default.svc", "reviews.default", "10.96.5.1"],
    },
    {
      says: "gives other namespaces the qualified names, in the other order",
      of: reviews,
      dnsDomain: "payments.svc.cluster.local",
      want: [host, `${host}.`, "reviews.default", "reviews.default.svc", "10.96.5.1"],
    },
    {
      says: "shortens nothing for another suffix",
      of: reviews,
      dnsDomain: "default.svc.other.local",
      want: [host, `${host}.`, "10.96.5.1"],
    },
    {
      says: "shortens nothing for a proxy without a domain",
      of: reviews,
      dnsDomain: "",
      want: [host, `${host}.`, "10.96.5.1"],
    },
    {
      says: "cuts the suffix shared with a proxy outside Kubernetes",
      of: service("foo.local.campus.net", [[80, "HTTP"]]),
      dnsDomain: "remote.campus.net",
      want: ["foo.local.campus.net", "foo.local.campus.net.", "foo.local", "foo.local.campus"],
    },
    {
      says: "repeats itself for aliases",
      of: service("a.default.svc.cluster.local", [[80, "HTTP"]], {
        attributes: { aliases: [{ hostname: "b.default.svc.cluster.local", namespace: "default" }] },
      }),
      dnsDomain: "other.svc.cluster.local",
      want: ["a", "b"].flatMap((name) => [
        `${name}.default.svc.cluster.local`,
        `${name}.default.svc.cluster.local.`,
        `${name}.default`,
        `${name}.default.svc`,
      ]),
    },
    {
      says: "puts a wildcard before each name of a headless service",
      of: service(host, [[80, "HTTP"]], { resolution: "Passthrough" }),
      dnsDomain: "",
      want: [host, `${host}.`, `*.${host}`, `*.${host}.`],
    },
    {
      says: "has no wildcard for a ServiceEntry with resolution NONE",
      of: service("a.example.com", [[80, "HTTP"]], { resolution: "Passthrough", attributes: { provider: "External" } }),
      dnsDomain: "",
      want: ["a.example.com", "a.example.com."],
    },
    {
      says: "makes no absolute name of an address, and puts IPv6 into brackets",
      of: service("fd00::1", [[80, "HTTP"]]),
      dnsDomain: "",
      want: ["[fd00::1]"],
    },
  ];
  it.each(cases)("$says", ({ of, dnsDomain, want }) => {
    expect(domainsOf(of, undefined, { dnsDomain }).all).toEqual(want);
  });

  it("has every name twice where ports tell hosts apart", () => {
    const { all, derived } = domainsOf(reviews, 9080, { dnsDomain: "" });
    expect(all).toEqual([host, `${host}:9080`, `${host}.`, `${host}.:9080`, "10.96.5.1", "10.96.5.1:9080"]);
    expect(all.filter((_, index) => derived[index])).toEqual([`${host}.`, `${host}.:9080`]);
  });

  it("takes the address of the proxy's own cluster", () => {
    const vips = new Map([
      ["c1", ["10.0.0.1"]],
      ["c2", ["10.0.0.2"]],
    ]);
    const both = service(host, [[80, "HTTP"]], { clusterVips: vips, defaultAddress: "10.0.0.1" });
    expect(domainsOf(both, undefined, { clusterId: "c2" }).all.at(-1)).toBe("10.0.0.2");
    expect(domainsOf(both, undefined, { clusterId: "c3" }).all.at(-1)).toBe("10.0.0.1");
  });
});

describe("serviceDomains, remembered", () => {
  const memo = createMemo();
  const seenFrom = (namespace: string, of: Service) => {
    const dnsDomain = `${namespace}.svc.cluster.local`;
    return serviceDomains(memo, {
      service: of,
      portSuffix: undefined,
      proxy: domainPerspectives({ ...proxy, dnsDomain }, memo),
    });
  };

  it("are one object for all namespaces but the service's own, so that tables share what is made of them", () => {
    expect(seenFrom("payments", reviews)).toBe(seenFrom("shipping", reviews));
    expect(seenFrom("default", reviews)).not.toBe(seenFrom("shipping", reviews));
  });

  it("are others for the namespace of an alias, and of a host that its own namespace does not tell", () => {
    const alias = { hostname: "b.payments.svc.cluster.local", namespace: "payments" };
    const aliased = service(host, [[80, "HTTP"]], { attributes: { aliases: [alias] } });
    expect(seenFrom("payments", aliased).all).toContain("b");
    const foreign = service("Web.Payments.svc.cluster.local", [[80, "HTTP"]]);
    expect(foreign.attributes.namespace).not.toBe("payments");
    expect(seenFrom("payments", foreign).all).toContain("web");
    expect(seenFrom("shipping", foreign).all).not.toContain("web");
  });
});

describe("virtualHostName", () => {
  it.each([
    { name: "a.example.com", want: "a.example.com:80" },
    { name: "fd00::1", want: "[fd00::1]:80" },
  ])("is $want", ({ name, want }) => {
    expect(virtualHostName(name, 80)).toBe(want);
  });
});
