import { isFields } from "../../base/untyped.ts";
import { canonicalMessage } from "../../descriptors/messages.ts";
import { schemas } from "../../descriptors/registry.ts";
import { diffJson, type JsonChange } from "../../snapshot/worlds/diff-json.ts";
import type { StoredResource } from "../../xds/explain/explain-resource.ts";
import { comparableEndpoints } from "./comparable-endpoints.ts";
import { redacted } from "./redact.ts";
import { type TableType, tableTypes } from "./resource-rows.ts";

/** One resource that is not alike on both sides. */
export interface RunningDifference {
  readonly type: TableType;
  readonly name: string;
  readonly state: "only compiled" | "only running" | "differs";
  /** From what is compiled to what runs; empty for what is on one side only. */
  readonly places: readonly JsonChange[];
}

/**
 * What differs between what is compiled for a node and what its Envoy runs, by type and name. Where each is fetched from does not count:
 * an agent, a poll and a stream say other things there.
 */
export function runningDifferences(
  compiled: readonly StoredResource[],
  running: readonly StoredResource[],
): readonly RunningDifference[] {
  // An Envoy tells endpoints of every cluster, also of one whose endpoints nothing sends it: it has them from the cluster, or from DNS.
  const withoutEds = new Set(
    running.filter(({ type, text }) => type === "clusters" && !text.includes('"type":"EDS"')).map(({ name }) => name),
  );
  return tableTypes.flatMap((type) => {
    const [before, after] = [compiled, running].map(
      (side) => new Map(side.filter((one) => one.type === type).map((one) => [one.name, one])),
    );
    if (before === undefined || after === undefined) return [];
    const names = [...new Set([...before.keys(), ...after.keys()])].sort();
    return names.flatMap((name): readonly RunningDifference[] => {
      const [was, is] = [before.get(name), after.get(name)];
      if (
        was === undefined &&
        type === "endpoints" &&
        (withoutEds.has(name) || !compiled.some((one) => one.type === type))
      )
        return [];
      if (was === undefined) return [{ type, name, state: "only running", places: [] }];
      if (is === undefined) return [{ type, name, state: "only compiled", places: [] }];
      const places = diffJson(comparable(was), comparable(is)).filter((place) => !isFoundByEnvoy(type, place));
      return places.length === 0 ? [] : [{ type, name, state: "differs", places }];
    });
  });
}

/** An endpoint that failed its health checks, or was ejected as an outlier: what an Envoy has found out was sent by nothing. */
const isFoundByEnvoy = (type: TableType, { path, before, after }: JsonChange): boolean =>
  type === "endpoints" && path.endsWith(".healthStatus") && before === "HEALTHY" && after !== undefined;

function comparable({ type, text }: StoredResource): unknown {
  const { "@type": _, ...json } = Object(JSON.parse(text));
  const read = canonicalMessage(schemas[type], json);
  const plain = withoutSources(redacted("error" in read ? json : read.json));
  return type === "endpoints" && isFields(plain) ? comparableEndpoints(plain) : plain;
}

function withoutSources(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSources);
  if (typeof value !== "object" || value === null) return value;
  const sources = new Set(["configSource", "edsConfig", "sdsConfig"]);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !sources.has(key))
      .map(([key, inner]) => [key, withoutSources(inner)]),
  );
}
