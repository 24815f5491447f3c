import { describe, expect, it } from "vitest";
import { objectsOfShards } from "../../../lib/compile/explain/root-objects.ts";
import type { SourceShard } from "../../../lib/compile/shards/source-shard.ts";

const rule = (host: string, before = "") => `${before}apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: a, namespace: shop }
spec:
  host: ${host}
`;
const service = `apiVersion: v1
kind: Service
metadata: { name: a, namespace: shop }
spec: { clusterIP: 10.0.0.1, ports: [{ name: http, port: 80 }] }
`;
const shard = (name: string, texts: Readonly<Record<string, string>>, kept: SourceShard["kept"] = []): SourceShard => ({
  name,
  version: "",
  files: Object.entries(texts).map(([file, text]) => ({ file, text })),
  kept,
});
const key = "DestinationRule/shop/a";

function placesIn(shards: readonly (SourceShard | undefined)[], wanted: string) {
  const { all, get, placeOf } = objectsOfShards(shards);
  const served = get(wanted);
  return {
    places: all.filter((object) => object.key === wanted).map((object) => placeOf(object, [])),
    host: served && placeOf(served, ["spec", "host"]),
  };
}

describe("the objects of a root", () => {
  it("stand where they are served from: of two sources the later one counts", () => {
    const shards = [shard("main", { "a.yaml": rule("one") }), shard("two", { "a.yaml": rule("two", "#\n") })];
    expect(placesIn(shards, key)).toEqual({ places: ["two/a.yaml:2"], host: "two/a.yaml:6" });
    expect(placesIn([shards[0], undefined], key)).toEqual({ places: ["a.yaml:1"], host: "a.yaml:5" });
  });

  it("are named by their last valid form where that is served, and only there", () => {
    const kept = [{ key, file: "a.yaml", text: rule("before", "#\n#\n") }];
    const refused = shard("main", { "a.yaml": rule("[]") }, kept);
    const earlier = "a.yaml:3 (as it was last valid)";
    expect(placesIn([refused], key)).toEqual({ places: [earlier], host: "a.yaml:7 (as it was last valid)" });
    const two = shard("two", { "b.yaml": rule("two") });
    expect(placesIn([refused, two], key)).toEqual({ places: ["two/b.yaml:1"], host: "two/b.yaml:5" });
  });

  it("have the lines of their own source where two have a file of one name", () => {
    const shards = [shard("main", { "two/a.yaml": service }), shard("two", { "a.yaml": rule("two", "#\n#\n") })];
    expect(placesIn(shards, key).host).toBe("two/a.yaml:7");
    expect(placesIn(shards, "Service/shop/a").places).toEqual(["two/a.yaml:1"]);
  });

  it("of clusters are not what the mesh's own of their name are", () => {
    const kept = [{ key: "Service/shop/a", file: "a.yaml", text: service }];
    const main = shard(
      "main",
      { "a.yaml": service.replace("port: 80", "port: []"), "clusters/east.yaml": service },
      kept,
    );
    expect(placesIn([main], "Service/shop/a").places).toEqual([
      "a.yaml:1 (as it was last valid)",
      "clusters/east.yaml:1",
    ]);
  });
});
