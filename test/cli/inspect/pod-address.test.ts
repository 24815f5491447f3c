import { describe, expect, it } from "vitest";
import { podAddress } from "../../../lib/cli/inspect/pod-address.ts";
import type { RootObject } from "../../../lib/xds/explain/root-object.ts";

const object = (kind: string, name: string, written: object, more: Partial<RootObject> = {}): RootObject => ({
  key: `${kind}/shop/${name}`,
  file: "a.yaml",
  line: 1,
  kind,
  namespace: "shop",
  name,
  labels: {},
  spec: undefined,
  written,
  ...more,
});
const all = [
  object(
    "EndpointSlice",
    "tunnel-x",
    { endpoints: [{ hostname: "tunnel-0", addresses: ["10.0.0.1"] }] },
    { labels: { "kubernetes.io/service-name": "tunnel" } },
  ),
  object("Endpoints", "old", { subsets: [{ addresses: [{ ip: "10.0.0.2", targetRef: { name: "old-0" } }] }] }),
  object("Pod", "db-0", { status: { podIP: "10.0.0.3" } }, { spec: { subdomain: "db" } }),
];
const find = (host: string, namespace = "shop") =>
  podAddress({ all, get: () => undefined, placeOf: () => "" }, host, namespace);

describe("the name of a pod", () => {
  it.each([
    ["tunnel-0.tunnel.shop", "10.0.0.1"],
    ["tunnel-0.tunnel", "10.0.0.1"],
    ["TUNNEL-0.tunnel.shop.svc.cluster.local", "10.0.0.1"],
    ["old-0.old.shop.svc", "10.0.0.2"],
    ["db-0.db.shop", "10.0.0.3"],
    ["tunnel-1.tunnel.shop", undefined],
    ["tunnel-0.other.shop", undefined],
    ["tunnel-0.tunnel.shop.example.com", undefined],
    ["tunnel", undefined],
  ])("leads from %s to %s", (host, address) => {
    expect(find(host)).toBe(address);
  });

  it("without a namespace is one of the node's", () => {
    expect(find("tunnel-0.tunnel", "other")).toBeUndefined();
    expect(find("tunnel-0.tunnel", "")).toBeUndefined();
  });
});
