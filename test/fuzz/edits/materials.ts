import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { load } from "js-yaml";
import { parseStream } from "../../../lib/config/documents/parse.ts";
import { casesOf } from "../../conformance/suites.ts";
import { randomSource } from "../objects/random-source.ts";
import type { Manifest } from "../objects/vocabulary.ts";
import type { Placed } from "./folder.ts";
import { type EditableKind, kindOf, meshKind, networksKind } from "./kinds.ts";
import { rareMeshConfigs, rareNetworks, rareObjects } from "./rare-objects.ts";
import { poolOf, type ValuePool } from "./value-pool.ts";

/** Objects that belong together and come and go as one. */
export interface Bundle {
  readonly name: string;
  readonly objects: readonly Placed[];
  readonly meshConfig: object | undefined;
  readonly networks: object | undefined;
}

/** What edits are made of. */
export interface Materials {
  /** Services with their pods and slices. */
  readonly applications: readonly Bundle[];
  /** Single objects, by the name of their kind. */
  readonly objects: ReadonlyMap<string, readonly Manifest[]>;
  readonly meshConfigs: readonly object[];
  /** The small ones of the conformance cases. */
  readonly cases: readonly Bundle[];
  readonly pool: ValuePool;
}

const registryKinds: ReadonlySet<string> = new Set(["Service", "Pod", "EndpointSlice"]);

/** @param seeds how many random sources to take objects from */
export function gatherMaterials(seeds: number): Materials {
  const sources = Array.from({ length: seeds }, (_, seed) => randomSource(1000 + seed));
  const cases = [...casesOf("v3"), ...casesOf("gateway-api"), ...casesOf("grpc")]
    .map(({ path }) => readCase(path))
    .filter(({ objects }) => objects.length <= maxCaseObjects);
  const manifests = [...sources.flatMap((source) => source.manifests), ...rareObjects];
  const meshConfigs = [...sources.flatMap(({ meshConfig }) => meshConfig ?? []), ...rareMeshConfigs];
  const known = [...manifests, ...cases.flatMap(({ objects }) => objects.map(({ manifest }) => manifest))];
  const settings = (kind: EditableKind, all: readonly (object | undefined)[]) =>
    all.flatMap((value): (readonly [EditableKind, unknown])[] => (value === undefined ? [] : [[kind, value]]));
  return {
    applications: sources.flatMap((source) => applicationsOf(source.manifests)),
    objects: groupByKind([
      ...sources.flatMap((source) => source.manifests).filter(({ kind }) => !registryKinds.has(kind)),
      ...rareObjects,
    ]),
    meshConfigs,
    cases,
    pool: poolOf([
      ...known.flatMap((manifest): (readonly [EditableKind, unknown])[] => {
        const kind = kindOf(manifest);
        return kind === undefined ? [] : [[kind, manifest]];
      }),
      ...settings(meshKind, [...meshConfigs, ...cases.map(({ meshConfig }) => meshConfig)]),
      ...settings(networksKind, [...rareNetworks, ...cases.map(({ networks }) => networks)]),
    ]),
  };
}

function groupByKind(manifests: readonly Manifest[]): ReadonlyMap<string, readonly Manifest[]> {
  return Map.groupBy(manifests, (manifest) => kindOf(manifest)?.name ?? "");
}

/** A source's services, each with the pods and slices that carry its name. */
function applicationsOf(manifests: readonly Manifest[]): readonly Bundle[] {
  const parts = manifests.filter(({ kind }) => registryKinds.has(kind));
  return parts
    .filter(({ kind }) => kind === "Service")
    .map((service) => {
      const { name, namespace } = service.metadata;
      const own = parts.filter(
        ({ metadata }) =>
          metadata.namespace === namespace && (metadata.name === name || metadata.name.startsWith(`${name}-`)),
      );
      return bundle(name, own);
    });
}

const bundle = (name: string, manifests: readonly Manifest[]): Bundle => ({
  name,
  objects: manifests.map((manifest) => ({ file: "objects.yaml", manifest })),
  meshConfig: undefined,
  networks: undefined,
});

/** Larger cases cost more time than they find. */
const maxCaseObjects = 16;

function readCase(path: string): Bundle {
  const name = basename(path);
  const settings = (file: string): object | undefined => {
    const value: unknown = existsSync(join(path, file)) ? load(readFileSync(join(path, file), "utf8")) : undefined;
    return typeof value === "object" && value !== null ? value : undefined;
  };
  const clusters = existsSync(join(path, "clusters")) ? readdirSync(join(path, "clusters")) : [];
  const files = [["input.yaml", `${name}.yaml`], ...clusters.map((file) => [`clusters/${file}`, `clusters/${file}`])];
  const objects = files.flatMap(([from = "", file = ""]) =>
    manifestsOf(readFileSync(join(path, from), "utf8")).map((manifest) => ({ file, manifest })),
  );
  return { name, objects, meshConfig: settings("mesh.yaml"), networks: settings("networks.yaml") };
}

/** The objects of a text that the compiler reads. */
function manifestsOf(text: string): readonly Manifest[] {
  return parseStream(text, { file: "" })
    .value.filter((object) => kindOf(object) !== undefined)
    .map(({ origin: _, ...object }) => ({
      ...object,
      metadata: { ...object.metadata, namespace: object.metadata.namespace ?? "" },
    }));
}
