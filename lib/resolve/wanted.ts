import { fieldsOf, isFields, jsonIn, listOf } from "../base/untyped.ts";
import { resolvedSource } from "../config/kinds/resolved-facts.ts";
import type { WantedModule } from "../config/kinds/wasm-module.ts";
import { newestRoot, readHead } from "../snapshot/head/head.ts";
import type { Trust } from "../snapshot/head/signatures.ts";
import { createSnapshotReader } from "../snapshot/reader/snapshot-reader.ts";
import type { Head } from "../snapshot/root.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { type Lookup, lookupName } from "./lookup-name.ts";

/** What all roots want that HEAD leads somebody to. Lists are sorted, and have nothing twice. */
export interface Wanted {
  readonly lookups: readonly Lookup[];
  /** Hosts without addresses, as `namespace/host`. */
  readonly services: readonly string[];
  /** Addresses that are not to be given to them. */
  readonly taken: readonly string[];
  /** Version of the resolver's source that the newest root was compiled from; undefined: it was compiled without. */
  readonly compiled: string | undefined;
  /** Whether modules are kept for a root, which have to go some time. */
  readonly holdsModules: boolean;
}

const nothingWanted: Wanted = { lookups: [], services: [], taken: [], compiled: undefined, holdsModules: false };

/** A reader of what is wanted, which reads a root once. */
export function createWantedReader(store: ObjectStore, trust: Trust | undefined): () => Promise<Wanted> {
  let last: { readonly roots: string; readonly wanted: Wanted } | undefined;
  return async () => {
    const read = await readHead(store, trust);
    if (read === undefined) return nothingWanted;
    const hashes = rootsOf(read.head);
    const roots = hashes.join();
    if (last?.roots === roots) return last.wanted;
    const reader = createSnapshotReader(store);
    const lookups = await Promise.all(
      hashes.map(async (hash) => {
        const { root } = await reader.root(hash);
        return root.lookups === undefined ? {} : fieldsOf(jsonIn(await reader.text(root.lookups)));
      }),
    );
    const newest = await reader.root(newestRoot(read.head));
    const all = (name: string): readonly string[] => [
      ...new Set(lookups.flatMap((one) => listOf(one[name]).filter((text) => typeof text === "string")).sort()),
    ];
    const modules = lookups.flatMap((one) => listOf(one.modules).filter(isModule));
    const wanted = {
      lookups: [
        ...all("issuers").map((issuer): Lookup => ({ issuer })),
        ...all("jwksUris").map((jwksUri): Lookup => ({ jwksUri })),
        ...all("hosts").map((host): Lookup => ({ host })),
        ...new Map(modules.map((module) => [lookupName({ module }), { module }])).values(),
      ],
      services: all("services"),
      taken: all("taken"),
      holdsModules: all("heldModules").length > 0,
      compiled: newest.root.sources.find(({ name }) => name === resolvedSource)?.version,
    };
    last = { roots, wanted };
    return wanted;
  };
}

const isModule = (value: unknown): value is WantedModule => isFields(value) && typeof value.url === "string";

const rootsOf = ({ steps, cohorts = [], canary, newest }: Head): readonly string[] =>
  [
    ...new Set([
      ...[...steps, ...cohorts.flatMap((cohort) => cohort.steps)].map(({ root }) => root),
      ...(canary === undefined ? [] : [canary.root]),
      ...(newest === undefined ? [] : [newest]),
    ]),
  ].sort();
