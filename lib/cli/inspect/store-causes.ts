import { PortolanError } from "../../base/diagnostic.ts";
import { objectsOfShards, shardsOfRoot } from "../../compile/explain/root-objects.ts";
import type { FindCauses } from "../../front/tracing/causes.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import type { RootObjects } from "../../xds/explain/root-object.ts";
import { causesIn } from "./causes.ts";

/** Causes by file and line, from the sources that lie in a store. The objects of one root are remembered, those that were asked about last. */
export function storeCauses(store: ObjectStore): FindCauses {
  let last: { readonly of: string; readonly objects: Promise<RootObjects> } | undefined;
  return async (sources, resources, namespace) => {
    const of = JSON.stringify(sources);
    if (last?.of !== of) last = { of, objects: shardsOfRoot(store, sources).then(objectsOfShards).catch(withoutTexts) };
    const causesOf = causesIn(resources, await last.objects, namespace);
    return (place) => causesOf(place).map(({ object, at }) => ({ object, ...(at === undefined ? {} : { at }) }));
  };
}

/** Sources that are kept no more: objects are named without a place. */
function withoutTexts(cause: unknown): RootObjects {
  if (!(cause instanceof PortolanError)) throw cause;
  return objectsOfShards([]);
}
