import { compile } from "../../../lib/compile/compile.ts";
import { type WorldOptions, worldOf } from "../../../lib/compile/world/world-of.ts";
import type { Config } from "../../../lib/config/config.ts";
import type { ParsedObject } from "../../../lib/config/documents/parse.ts";
import { readFiles } from "../../../lib/config/folder/directory.ts";
import { noMemo } from "../../../lib/incremental/memo.ts";
import { type Folder, filesOf, isRemote, type Placed, placeKey } from "./folder.ts";

/** What a compile asked for in one object, there or not: names, `[]` for elements; `*` where it looked at all keys. */
export type ReadPaths = readonly (readonly string[])[];

export interface Reads {
  readonly objects: ReadonlyMap<Placed, ReadPaths>;
  readonly meshConfig: ReadPaths;
  readonly networks: ReadPaths;
}

/**
 * Compiles a folder once, watching what is read of it: an edit of anything else can change nothing. What is copied as a
 * whole counts as read to its end.
 */
export function readsOf(folder: Folder, options: WorldOptions): Reads {
  const loaded = readFiles(filesOf(folder));
  const byKey = new Map(folder.objects.map((placed) => [idOf(placed), placed]));
  const objects = new Map<Placed, Recorder>();
  const recorderOf = (id: string): Recorder => {
    const placed = byKey.get(id);
    const recorder = (placed === undefined ? undefined : objects.get(placed)) ?? createRecorder();
    if (placed !== undefined) objects.set(placed, recorder);
    return recorder;
  };
  const watchObject =
    (cluster: string) =>
    (object: ParsedObject): ParsedObject => {
      const { apiVersion, kind, metadata } = object;
      const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.lastIndexOf("/")) : "";
      const { labels = {}, annotations = {} } = metadata;
      const { watch } = recorderOf(idText(cluster, group, kind, metadata.namespace, metadata.name));
      return watch({ ...object, metadata: { ...metadata, labels, annotations } }, []);
    };
  const watchConfig = (config: Config): Config => {
    const { meta, spec } = config;
    const { watch } = recorderOf(idText("", meta.group, meta.kind, meta.namespace, meta.name));
    const labels = watch(meta.labels, ["metadata", "labels"]);
    const annotations = watch(meta.annotations, ["metadata", "annotations"]);
    return { ...config, meta: { ...meta, labels, annotations }, spec: watch(spec, ["spec"]) };
  };
  const mesh = createRecorder();
  const networks = createRecorder();
  const watched = {
    ...loaded,
    configs: loaded.configs.map(watchConfig),
    objects: loaded.objects.map(watchObject("")),
    clusters: loaded.clusters.map(({ id, objects: remote }) => ({ id, objects: remote.map(watchObject(id)) })),
    meshConfig: mesh.watch(loaded.meshConfig, []),
    meshNetworks: networks.watch(loaded.meshNetworks, []),
  };
  compile(worldOf(watched, options, noMemo).value, [], noMemo);
  return {
    objects: new Map([...objects].map(([placed, { paths }]) => [placed, [...paths.values()]])),
    meshConfig: [...mesh.paths.values()],
    networks: [...networks.paths.values()],
  };
}

function idOf(placed: Placed): string {
  const [, group = "", kind = "", namespace, name = ""] = placeKey(placed).split("|");
  const cluster = isRemote(placed) ? (/([^/]+)\.ya?ml$/.exec(placed.file)?.[1] ?? "") : "";
  return idText(cluster, group, kind, namespace, name);
}

const idText = (cluster: string, group: string, kind: string, namespace: string | undefined, name: string): string =>
  [cluster, group, kind, namespace || "default", name].join("|");

interface Recorder {
  readonly paths: Map<string, readonly string[]>;
  /** The value as it is, with every look at it entered. */
  watch<T>(value: T, path: readonly string[]): T;
}

function createRecorder(): Recorder {
  const paths = new Map<string, readonly string[]>();
  // The same object must stay the same object: stages go by identity.
  const known = new WeakMap<object, object>();
  const enter = (path: readonly string[]) => paths.set(path.join("\u0000"), path);
  const watch = <T>(value: T, path: readonly string[]): T => {
    if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
    const seen = known.get(value);
    // A watched value has the type of what it watches.
    if (seen !== undefined) return seen as T & object;
    const isList = Array.isArray(value);
    const stepTo = (key: string | symbol): readonly string[] | undefined => {
      if (typeof key === "symbol") return undefined;
      if (!isList) return [...path, key];
      return /^\d+$/.test(key) ? [...path, "[]"] : undefined;
    };
    const proxy = new Proxy(value, {
      get: (target, key) => {
        const member: unknown = Reflect.get(target, key);
        const step = stepTo(key);
        if (step === undefined) return member;
        enter(step);
        return watch(member, step);
      },
      has: (target, key) => {
        const step = stepTo(key);
        if (step !== undefined) enter(step);
        return Reflect.has(target, key);
      },
      ownKeys: (target) => {
        enter([...path, isList ? "[]" : "*"]);
        return Reflect.ownKeys(target);
      },
    });
    known.set(value, proxy);
    return proxy;
  };
  return { paths, watch };
}
