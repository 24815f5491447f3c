import { hashOf } from "../../snapshot/blob.ts";
import { type CoreType, typeUrlOf } from "../../snapshot/resource-type.ts";
import type { HeldResource, Holding } from "../held/holding.ts";
import {
  type FileSourceOptions,
  type FileText,
  type Reference,
  referencesIn,
  withFileSources,
} from "./file-sources.ts";
import { leafPath } from "./leaf-path.ts";

/** Types that come whole, in one file each. */
export type CollectionKind = "cds" | "lds";

/** A file of one resource. */
export interface Leaf {
  readonly path: string;
  readonly type: CoreType;
  readonly name: string;
  readonly file: FileContent;
}

/** A DiscoveryResponse on disk. */
export interface FileContent {
  /** Of what the file holds, so that it says itself whether it is whole. */
  readonly version: string;
  readonly text: string;
}

/** Resources of a collection as Envoy reads them, by name. */
export type Entries = ReadonlyMap<string, FileText>;

/** Everything that Envoy is to read. */
export interface EnvoyFiles {
  /** Of the holdings that they were made from. */
  readonly versions: Readonly<Record<CoreType, string>>;
  readonly leaves: ReadonlyMap<string, Leaf>;
  readonly cds: Entries;
  readonly lds: Entries;
}

const versionLength = 32;

/** @param resources as JSON on one line each, sorted by name */
function fileOf(resources: readonly string[]): FileContent {
  const body = resources.join(",\n");
  const version = hashOf(body).slice(0, versionLength);
  return { version, text: `{"version_info":"${version}","resources":[\n${body}\n]}\n` };
}

/** Reads a file of `fileOf`. @returns undefined when it is not whole, or somebody else wrote it */
export function readFileOf(text: string): (FileContent & { readonly resources: readonly string[] }) | undefined {
  const match = /^\{"version_info":"([0-9a-f]{32})","resources":\[\n([\s\S]*)\n\]\}\n$/.exec(text);
  const [, version, body] = match ?? [];
  if (version === undefined || body === undefined || hashOf(body).slice(0, versionLength) !== version) return undefined;
  return { version, text, resources: body === "" ? [] : body.split(",\n") };
}

export const collectionOf = (entries: Entries): FileContent =>
  fileOf([...entries].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, { text }]) => text));

/** Makes files of what there is; what did not change is not made again. */
export function createFileMaker(
  options: FileSourceOptions,
): (holdings: Readonly<Record<CoreType, Holding>>) => EnvoyFiles {
  const rewritten = new WeakMap<HeldResource, FileText>();
  const leaves = new WeakMap<HeldResource, FileContent>();
  const remember = <T>(known: WeakMap<HeldResource, T>, resource: HeldResource, make: () => T): T => {
    const found = known.get(resource) ?? make();
    known.set(resource, found);
    return found;
  };
  const rewrittenOf = ({ resources }: Holding): Entries =>
    new Map(
      [...resources.values()].map((resource) => [
        resource.name,
        remember(rewritten, resource, () => withFileSources(resource.text, options)),
      ]),
    );
  return ({ clusters, endpoints, listeners, routes }) => {
    const cds = rewrittenOf(clusters);
    const lds = rewrittenOf(listeners);
    const written = new Map<string, Leaf>();
    const add = (kind: "eds" | "rds", type: CoreType, { resources }: Holding) => {
      for (const resource of resources.values()) {
        const path = leafPath(kind, resource.name);
        const file = remember(leaves, resource, () => fileOf([resource.text]));
        written.set(path, { path, type, name: resource.name, file });
      }
    };
    add("eds", "endpoints", endpoints);
    add("rds", "routes", routes);
    // Envoy refuses what names a file that is not there.
    for (const reference of [...cds.values(), ...lds.values()].flatMap(({ references }) => references)) {
      const empty = emptyLeaf(reference);
      if (empty !== undefined && !written.has(empty.path)) written.set(empty.path, empty);
    }
    const versions = {
      clusters: clusters.version,
      endpoints: endpoints.version,
      listeners: listeners.version,
      routes: routes.version,
    };
    return { versions, leaves: written, cds, lds };
  };
}

/** What stands for a resource that is named and not there: no endpoints, no routes. Certificates come from elsewhere. */
function emptyLeaf({ kind, name }: Reference): Leaf | undefined {
  const path = leafPath(kind, name);
  if (kind === "eds") {
    const text = JSON.stringify({ "@type": typeUrlOf("endpoints"), clusterName: name });
    return { path, type: "endpoints", name, file: fileOf([text]) };
  }
  if (kind === "rds") {
    const text = JSON.stringify({ "@type": typeUrlOf("routes"), name });
    return { path, type: "routes", name, file: fileOf([text]) };
  }
  return undefined;
}

/** Paths of the leaves that some entries name. */
export const pathsNamed = (...collections: readonly Entries[]): ReadonlySet<string> =>
  new Set(
    collections.flatMap((entries) =>
      [...entries.values()].flatMap(({ references }) => references.map(({ kind, name }) => leafPath(kind, name))),
    ),
  );

/** Entries as they stand in a file of the agent's. */
export function entriesOf(resources: readonly string[] = []): Entries {
  return new Map(
    resources.map((text) => {
      const { name = "" }: { readonly name?: string } = JSON.parse(text);
      return [name, { text, references: referencesIn(text) }];
    }),
  );
}
