import { fromBinary, fromJson, toBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { RouteConfigurationSchema } from "../../../gen/envoy/config/route/v3/route_pb.ts";
import { hashOf } from "../../../lib/base/blob.ts";
import { checkByElements } from "../../../lib/compile/check-by-elements.ts";
import { encodeResource } from "../../../lib/compile/encode/encode-resource.ts";
import { encodedList } from "../../../lib/compile/encode/encoded-list.ts";
import { registry } from "../../../lib/descriptors/registry.ts";
import { createMemo, type Memo, noMemo } from "../../../lib/incremental/memo.ts";
import type { CompiledResource } from "../../../lib/snapshot/compiled.ts";
import { runsIn } from "../../../lib/snapshot/long/long-resource.ts";
import { versionOfText } from "../../../lib/snapshot/long/version-of-text.ts";
import type { ResourceType } from "../../../lib/snapshot/resource-type.ts";
import { checkResource } from "../../../lib/xds/descriptors.ts";
import type { Resource } from "../../../lib/xds/resource.ts";

interface Host {
  readonly name: string;
  readonly domains: readonly string[];
  readonly [field: string]: unknown;
}

/** Hosts of ten namespaces, sorted by name. */
function hosts(count: number, timeout: (at: number) => string = () => "1s"): readonly Host[] {
  return Array.from({ length: count }, (_, at): Host => {
    const name = `app-${at}.team-${at % 10}.svc.cluster.local`;
    const route = { cluster: `outbound|80||${name}`, timeout: timeout(at) };
    return { name: `${name}:80`, domains: [name, `${name}.`], routes: [{ match: { prefix: "/" }, route }] };
  }).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** A table as the generator makes it. */
function table(virtualHosts: readonly Host[]): Resource {
  const from = [{ group: "networking.istio.io", kind: "VirtualService", namespace: "team-1", name: "app" }];
  return { name: "80", json: { name: "80", virtualHosts, validateClusters: false }, from };
}

const check = (type: ResourceType, resource: Resource, memo: Memo) =>
  checkByElements(resource, { type, reader: "envoy", withBinary: false }, memo);
const encode = (resource: Resource, memo = noMemo): CompiledResource =>
  encodeResource(resource, { type: "routes", withBinary: true }, memo);

function parsed(text: string) {
  const message: { readonly virtualHosts: readonly Host[] } = JSON.parse(text);
  return message;
}

describe("a cluster with its load assignment in it", () => {
  const assignment = (weight: number) => ({
    clusterName: "outbound|80||app",
    endpoints: [{ lbEndpoints: [{ loadBalancingWeight: weight, endpoint: { hostname: "a" } }] }],
  });
  const inlined = (loadAssignment: object): Resource => ({
    name: "outbound|80||app",
    json: { name: "outbound|80||app", type: "STATIC", loadAssignment },
    from: [],
  });

  it("is written as it is, from the text that the assignment has as a resource", () => {
    const memo = createMemo();
    const json = assignment(1);
    const alone = encodeResource(
      { name: json.clusterName, json, from: [] },
      { type: "endpoints", withBinary: false },
      memo,
    );
    expect(JSON.parse(alone.text)).toEqual({
      "@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
      ...json,
    });
    for (const cluster of [
      inlined(json),
      { ...inlined(json), json: { loadAssignment: json } },
      { ...inlined(json), json: { ...inlined(json).json, lbPolicy: "RANDOM" } },
    ]) {
      const typed = { "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", ...cluster.json };
      expect(encodeResource(cluster, { type: "clusters", withBinary: false }, memo).text).toBe(JSON.stringify(typed));
    }
  });

  it("is checked and written with one look for the assignment, which was gone over as a resource", () => {
    const memo = createMemo();
    const json = assignment(1);
    const counted = (type: ResourceType, resource: Resource) => {
      const { hits = 0, misses = 0 } = memo.known ?? {};
      encodedList(memo, { type, resources: [resource], reader: "envoy", withBinary: false });
      return { hits: (memo.known?.hits ?? 0) - hits, misses: (memo.known?.misses ?? 0) - misses };
    };
    // Lists, resources, and the assignment.
    expect(counted("endpoints", { name: json.clusterName, json, from: [] })).toEqual({ hits: 0, misses: 3 });
    expect(counted("clusters", inlined(json))).toEqual({ hits: 1, misses: 2 });
  });

  it("is refused with the path into it where either of the two is not what Envoy takes", () => {
    const memo = createMemo();
    const told = (resource: Resource) => check("clusters", resource, memo)?.message;
    expect(told(inlined(assignment(1)))).toBeUndefined();
    expect(told(inlined(assignment(0)))).toMatch(
      /loadAssignment\.endpoints\[0\]\.lbEndpoints\[0\]\.loadBalancingWeight/,
    );
    const odd = inlined(assignment(1));
    expect(told({ ...odd, json: { connectTimeout: "soon", ...odd.json } })).toContain("Duration");
    expect(told(odd)).toBe(checkResource("clusters", odd)?.message);
  });
});

describe("encodeResource", () => {
  const many = hosts(1000);

  it("writes a short message whole, in its own order", () => {
    const { text, version, runLists } = encode(table(many.slice(0, 100)));
    expect(runLists).toBeUndefined();
    expect(parsed(text)).toEqual({
      "@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
      ...table(many.slice(0, 100)).json,
    });
    expect(version).toBe(hashOf(text));
  });

  it("writes a long message in runs that together say the same, whatever the order of the hosts", () => {
    const written = encode(table(many));
    const { text } = written;
    expect(runsIn(written).length).toBeGreaterThan(2);
    const { virtualHosts, ...rest } = parsed(text);
    expect(virtualHosts.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual(many);
    expect(rest).toEqual({
      "@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
      name: "80",
      validateClusters: false,
    });
  });

  it("gives a long message a binary form that is the message of its text", () => {
    const { text, binary = new Uint8Array() } = encode(table(many));
    const { "@type": _type, ...json } = JSON.parse(text);
    const read = fromBinary(RouteConfigurationSchema, binary);
    expect(toBinary(RouteConfigurationSchema, read)).toEqual(
      toBinary(RouteConfigurationSchema, fromJson(RouteConfigurationSchema, json, { registry })),
    );
  });

  it("cuts by content alone: another process and another history come to the same runs", () => {
    const memo = createMemo();
    encode(table(hosts(1000, (at) => `${at}s`)), memo);
    encode(table(many.slice(17)), memo);
    const copy: Resource = structuredClone(table(many));
    expect(encode(copy)).toEqual(encode(table(many), memo));
    const { version, text } = encode(copy);
    expect(version).toBe(versionOfText("routes", text).version);
  });

  it.each([0, 1, 500, 999])("writes one run and no other when the host %i changes", (at) => {
    const memo = createMemo();
    const before = new Set(runsIn(encode(table(many), memo)));
    const changed = many.map((host, place) => (place === at ? { ...host, includeRequestAttemptCount: true } : host));
    expect(runsIn(encode(table(changed), memo)).filter((run) => !before.has(run))).toHaveLength(1);
  });

  it("looks up the elements of the run that differs, whatever else the table has", () => {
    const memo = createMemo();
    const looks = () => (memo.known?.hits ?? 0) + (memo.known?.misses ?? 0);
    check("routes", table(many), memo);
    encode(table(many), memo);
    const before = looks();
    const changed = table(many.with(500, { ...many[500], name: many[500]?.name ?? "", domains: ["other"] }));
    check("routes", changed, memo);
    encode(changed, memo);
    expect(looks() - before).toBeLessThan(300);
  });

  it("shares what is not of a namespace between tables that have the hosts of one namespace in another form", () => {
    const memo = createMemo();
    const tableOf = (namespace: string) =>
      table(
        many.map((host) => (host.name.includes(namespace) ? { ...host, domains: [...host.domains, "short"] } : host)),
      );
    const first = new Set(runsIn(encode(tableOf("team-3"), memo)));
    const runs = runsIn(encode(tableOf("team-7"), memo));
    const isShared = runs.map((run) => first.has(run));
    expect(isShared.filter((shared) => shared).length).toBeGreaterThan(runs.length / 2);
  });

  it("says of a long message with a wrong host what it says of it whole, and takes it where it is right", () => {
    const wrong = table([...many, { name: "wrong", domains: ["wrong"], routes: [{ match: { prefix: 1 } }] }]);
    const diagnostic = check("routes", wrong, createMemo());
    expect(diagnostic?.code).toBe("resource-refused");
    expect(diagnostic).toEqual(checkResource("routes", wrong));
    const around: Resource = { ...table(many), json: { ...table(many).json, validateClusters: "no" } };
    expect(check("routes", around, noMemo)).toEqual(checkResource("routes", around));
    expect(check("routes", table(many), noMemo)).toBeUndefined();
  });

  it("takes a host with a type that nobody carries, without a binary form", () => {
    const unknown = { "@type": "type.googleapis.com/example.Unknown", field: 1 };
    const taken = table([...many, { name: "z", domains: ["z"], typedPerFilterConfig: { filter: unknown } }]);
    expect(check("routes", taken, noMemo)).toBeUndefined();
    const { binary, runLists } = encode(taken);
    expect(runLists).toBeDefined();
    expect(binary).toBeUndefined();
  });
});
