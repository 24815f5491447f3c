import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { ClusterSchema } from "../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import { ListenerSchema } from "../../gen/envoy/config/listener/v3/listener_pb.ts";
import { newestRelease, type Release } from "../../lib/config/compat/compat-settings.ts";
import { createConstraints } from "../../lib/descriptors/field-constraints.ts";
import { createFormCheck } from "../../lib/descriptors/message-form.ts";
import { registry, schemas } from "../../lib/descriptors/registry.ts";
import { createTypeLookup } from "../../lib/descriptors/type-lookup.ts";
import { createMemo } from "../../lib/incremental/memo.ts";
import { buildMesh } from "../../lib/mesh/build-mesh.ts";
import { generate } from "../../lib/xds/generate.ts";
import { type ResourceType, resourceTypes } from "../../lib/xds/resource.ts";
import { loadCase } from "../conformance/load-case.ts";
import { casesOf } from "../conformance/suites.ts";
import { wholeResources } from "../whole-resources.ts";

const types = createTypeLookup(registry);
const hasForm = createFormCheck(types);
const { constraintsOf, violationIn } = createConstraints(types);
const isSound = createFormCheck(types, constraintsOf);

function isRead(type: ResourceType, json: JsonValue): boolean {
  try {
    fromJson(schemas[type], json, { registry });
    return true;
  } catch {
    return false;
  }
}

interface Made {
  readonly type: ResourceType;
  readonly json: JsonValue;
}

/** Each resource of a suite's cases once, by its text. */
function resourcesOfCases(suite: "v3" | "v3-next", release: Release): readonly Made[] {
  const made = new Map<string, Made>();
  for (const { path } of casesOf(suite)) {
    const world = loadCase(path, { release });
    const memo = createMemo();
    const mesh = buildMesh(world, memo).value;
    for (const proxy of world.proxies) {
      const resources = wholeResources(generate(mesh, proxy, memo).value);
      for (const type of resourceTypes) {
        for (const { json } of resources[type]) {
          const text = JSON.stringify(json);
          made.set(`${type} ${text}`, { type, json: JSON.parse(text) });
        }
      }
    }
  }
  return [...made.values()];
}

type Members = { [name: string]: JsonValue };

/** Every object and list in a value, itself among them. */
function containersOf(value: JsonValue): (Members | JsonValue[])[] {
  if (value === null || typeof value !== "object") return [];
  return [value, ...Object.values(value).flatMap(containersOf)];
}

/** What people write where something else belongs. */
const oddities: readonly JsonValue[] = [
  null,
  "",
  "text",
  "1s",
  "-1.5s",
  "99999999999999s",
  "\ud800",
  "ROUND_ROBIN",
  "AAA",
  "AAAA",
  0,
  -1,
  1.5,
  1e40,
  4_294_967_296,
  true,
  [],
  [null],
  {},
  { name: "x" },
  { "@type": "type.googleapis.com/example.Unknown" },
  { "@type": "type.googleapis.com/google.protobuf.Struct", value: { a: [null, 1] } },
  { "@type": "type.googleapis.com/google.protobuf.Duration", value: "1s", more: 1 },
];

const names = [
  "name",
  "@type",
  "connect_timeout",
  "type",
  "clusterType",
  "route",
  "redirect",
  "directResponse",
  "__proto__",
];

/** One thing changed somewhere in it. */
function mutated(json: JsonValue, [where, what, odd]: readonly [number, number, number]): JsonValue {
  const copy: JsonValue = structuredClone(json);
  const all = containersOf(copy);
  const place = all[where % all.length];
  if (place === undefined) return copy;
  const keys = Object.keys(place);
  const key = keys[odd % Math.max(1, keys.length)];
  const value = oddities[odd % oddities.length] ?? null;
  if (Array.isArray(place)) {
    if (what % 2 === 0) place.push(value);
    else place[odd % (place.length + 1)] = value;
  } else if (what % 4 === 0) place[names[odd % names.length] ?? "name"] = value;
  else if (key === undefined) place.name = value;
  else if (what % 4 === 1) place[key] = value;
  else if (what % 4 === 2) {
    const member = place[key] ?? null;
    delete place[key];
    place[key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] = member;
    // A copy: a value that holds itself is no JSON.
  } else place[key] = structuredClone(all[odd % all.length] ?? value);
  return copy;
}

describe("the form of a message, by its table", () => {
  let made: readonly Made[] = [];
  beforeAll(() => {
    made = [...resourcesOfCases("v3", "1.30"), ...resourcesOfCases("v3-next", newestRelease)];
  }, 60_000);

  it("is seen in everything that is made for the recorded cases, but for types that nobody knows", () => {
    expect(made.length).toBeGreaterThan(1_000);
    const unseen = made.filter(({ type, json }) => !hasForm(schemas[type], json));
    expect(unseen.filter(({ type, json }) => isRead(type, json))).toEqual([]);
  });

  it("is that of all that the newest release writes", () => {
    const next = resourcesOfCases("v3-next", newestRelease);
    expect(next.length).toBeGreaterThan(100);
    expect(next.filter(({ type, json }) => !hasForm(schemas[type], json) || !isRead(type, json))).toEqual([]);
  });

  it("is never seen where the library would refuse, and with constraints where one is broken, in 10,000 resources with one thing changed", () => {
    let [taken, refused] = [0, 0];
    const number = fc.nat(1_000_000);
    const wrong: JsonValue[] = [];
    let broken = 0;
    fc.assert(
      fc.property(number, fc.tuple(number, number, number), (at, change) => {
        const { type, json } = made[at % made.length] ?? { type: "clusters", json: {} };
        const other = mutated(json, change);
        const isBroken = violationIn(schemas[type], other) !== undefined;
        if (isSound(schemas[type], other) !== (hasForm(schemas[type], other) && !isBroken)) wrong.push(other);
        if (hasForm(schemas[type], other) && isBroken) broken += 1;
        if (!hasForm(schemas[type], other)) refused += 1;
        else if (isRead(type, other)) taken += 1;
        else wrong.push(other);
      }),
      { numRuns: 10_000, seed: 20 },
    );
    expect(wrong).toEqual([]);
    // Both happen often, or nothing was tried.
    expect(Math.min(taken, refused)).toBeGreaterThan(1_000);
    expect(broken).toBeGreaterThan(100);
  }, 120_000);

  it("asks nobody about depth: what is nested too far for the library has no form", () => {
    let json: JsonValue = 1;
    for (let at = 0; at < 200; at++) json = [json];
    const metadata = { filterMetadata: { a: { b: json } } };
    expect(hasForm(ClusterSchema, { name: "c", metadata })).toBe(false);
    expect(isRead("clusters", { name: "c", metadata })).toBe(false);

    let any: JsonValue = { "@type": "type.googleapis.com/google.protobuf.Struct", value: {} };
    for (let at = 0; at < 20_000; at++) any = { "@type": "type.googleapis.com/google.protobuf.Any", value: any };
    const clusterType = { name: "x", typedConfig: any };
    expect(hasForm(ClusterSchema, { name: "c", clusterType })).toBe(false);
  });

  it("is seen whatever order fields stand in, and whatever came next in the last message", () => {
    const of = (cluster: object) => hasForm(ClusterSchema, cluster);
    expect(of({ name: "c", type: "STATIC", connectTimeout: "1s" })).toBe(true);
    expect(of({ connectTimeout: "1s", name: "c", type: "STATIC" })).toBe(true);
    expect(of({ name: "c", connectTimeout: "1s" })).toBe(true);
    expect(of({ name: "c", type: 3, connectTimeout: "1s" })).toBe(false);
    expect(of({ name: "c", connectTimeout: "STATIC", type: "1s" })).toBe(false);
    expect(of({ type: "STATIC", clusterType: { name: "x" } })).toBe(false);
    expect(of({ name: "c", type: "STATIC", none: 1 })).toBe(false);
  });

  it("is looked at again in a value that was right where less was around it", () => {
    const nested = (inner: JsonValue, times: number): JsonValue =>
      times === 0 ? inner : nested({ notMatch: inner }, times - 1);
    const listener = (filterDisabled: JsonValue) => ({ name: "l", listenerFilters: [{ name: "f", filterDisabled }] });
    const value = nested({ anyMatch: true }, 40);
    expect(hasForm(ListenerSchema, listener(value))).toBe(true);
    expect(hasForm(ListenerSchema, listener(nested(value, 10)))).toBe(false);
  });
});
