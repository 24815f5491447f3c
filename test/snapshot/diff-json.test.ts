import { describe, expect, it } from "vitest";
import { diffJson } from "../../lib/snapshot/worlds/diff-json.ts";

const host = (name: string, cluster = name) => ({ name, routes: [{ route: { cluster } }] });

describe("where two values differ", () => {
  it("names places where lists stay as they are", () => {
    const before = { virtualHosts: [host("a"), host("b")] };
    const after = { virtualHosts: [host("a"), host("b", "c"), host("d")] };
    expect(diffJson(before, after)).toEqual([
      { path: "virtualHosts[1].routes[0].route.cluster", before: "b", after: "c" },
      { path: "virtualHosts[2]", before: undefined, after: host("d") },
    ]);
  });

  it("names what came and went before others by its name, and nothing that only moved", () => {
    const before = { virtualHosts: [host("b"), host("c"), host("x")] };
    const after = { virtualHosts: [host("a"), host("b"), host("c", "d")] };
    expect(diffJson(before, after)).toEqual([
      { path: "virtualHosts[x]", before: host("x"), after: undefined },
      { path: "virtualHosts[a]", before: undefined, after: host("a") },
      { path: "virtualHosts[c].routes[0].route.cluster", before: "c", after: "d" },
    ]);
  });

  it("goes by places where an order changes, or names say nothing", () => {
    expect(diffJson([host("a"), host("b")], [host("b"), host("a")]).length).toBeGreaterThan(0);
    expect(diffJson([host("a", "1"), host("a", "2")], [host("a", "2")])).toEqual([
      { path: "[0].routes[0].route.cluster", before: "1", after: "2" },
      { path: "[1]", before: host("a", "2"), after: undefined },
    ]);
    expect(diffJson([{ name: "a" }, 1], [1])).toEqual([
      { path: "[0]", before: { name: "a" }, after: 1 },
      { path: "[1]", before: 1, after: undefined },
    ]);
  });

  it("pairs endpoints by their addresses, and groups of them by locality", () => {
    const at = (address: string, more: object = {}) => ({
      endpoint: { address: { socketAddress: { address, portValue: 80 } } },
      ...more,
    });
    const [a, b, c] = [at("10.0.0.1"), at("10.0.0.2"), at("fd00::3")];
    const before = { endpoints: [{ locality: { region: "r2" }, lbEndpoints: [a, b, c] }] };
    const first = { lbEndpoints: [at("10.0.0.9")], priority: 1 };
    const after = {
      endpoints: [first, { locality: { region: "r2" }, lbEndpoints: [b, { ...c, healthStatus: "DRAINING" }] }],
    };
    expect(diffJson(before, after)).toEqual([
      { path: "endpoints[// priority 1]", before: undefined, after: first },
      { path: "endpoints[r2//].lbEndpoints[10.0.0.1:80]", before: a, after: undefined },
      { path: "endpoints[r2//].lbEndpoints[[fd00::3]:80].healthStatus", before: undefined, after: "DRAINING" },
    ]);
  });
});
