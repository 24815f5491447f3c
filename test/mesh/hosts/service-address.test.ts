import { describe, expect, it } from "vitest";
import { type AddressPerspective, serviceAddress, serviceAddresses } from "../../../lib/mesh/hosts/service-address.ts";
import type { Service } from "../../../lib/registry/service.ts";
import { service } from "../parts.ts";

const proxy = (parts: Partial<AddressPerspective> = {}): AddressPerspective => ({
  clusterId: "here",
  ipMode: "IPv4",
  autoAllocatedAddresses: false,
  ...parts,
});

const plain = service({ at: "a.x.com@ns1" });
const vips = (addresses: Readonly<Record<string, readonly string[]>>, defaultAddress: string): Service => ({
  ...plain,
  defaultAddress,
  clusterVips: new Map(Object.entries(addresses)),
});

const both = vips({ here: ["10.0.0.1", "fd00::1"], there: ["10.9.0.1"] }, "10.0.0.1");
const remote = vips({ there: ["10.9.0.1"] }, "10.9.0.1");
const declared: Service = { ...plain, defaultAddress: "240.0.0.0/24", clusterVips: new Map() };
const automatic: Service = {
  ...plain,
  defaultAddress: "0.0.0.0",
  clusterVips: new Map(),
  autoAllocatedIPv4: "240.240.0.9",
  autoAllocatedIPv6: "2001:2::9",
};

describe("the addresses of a service", () => {
  it.each([
    { case: "of the own cluster and family", of: both, proxy: proxy(), main: "10.0.0.1", all: ["10.0.0.1"] },
    { case: "of IPv6", of: both, proxy: proxy({ ipMode: "IPv6" }), main: "fd00::1", all: ["fd00::1"] },
    {
      case: "of both families: those of the first",
      of: both,
      proxy: proxy({ ipMode: "dual" }),
      main: "10.0.0.1",
      all: ["10.0.0.1"],
    },
    { case: "elsewhere only", of: remote, proxy: proxy(), main: "10.9.0.1", all: ["10.9.0.1"] },
    {
      case: "of another family only: a listener falls back, a route table names none",
      of: remote,
      proxy: proxy({ ipMode: "IPv6" }),
      main: "10.9.0.1",
      all: [],
    },
    {
      case: "that a ServiceEntry declares, whatever the family",
      of: declared,
      proxy: proxy({ ipMode: "IPv6" }),
      main: "240.0.0.0/24",
      all: ["240.0.0.0/24"],
    },
    { case: "that were allocated, unasked for", of: automatic, proxy: proxy(), main: "0.0.0.0", all: ["0.0.0.0"] },
    {
      case: "that were allocated, for a proxy that takes them",
      of: automatic,
      proxy: proxy({ autoAllocatedAddresses: true, ipMode: "IPv6" }),
      main: "2001:2::9",
      all: ["2001:2::9"],
    },
  ])("$case", ({ of, proxy: from, main, all }) => {
    expect(serviceAddress(of, from)).toBe(main);
    expect(serviceAddresses(of, from)).toEqual(all);
  });
});
