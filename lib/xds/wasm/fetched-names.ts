import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { isJsonObject, type JsonObject, mapJson } from "../map-json.ts";
import type { Parted, Resource } from "../resource.ts";

/**
 * The name of an extension whose code an Envoy has from its front: another one for other code. An Envoy that is told of other code under a
 * name that it knows does not fetch it, since the listener that would wait for it waits no more, and its filter fails for good. Under
 * another name it makes the listener anew, which takes over once the code is there.
 *
 * @see envoy 1.40.0 source/common/init/manager_impl.cc, ManagerImpl
 */
export const fetchedName = (name: string, sha256: string): string => `${name}@${sha256.slice(0, 16)}`;

/** As a snapshot calls the two forms of its answers. */
type Shape = "stream" | "poll";

/** Whether Istio's agent gets an extension as Istio writes it, and sees to its code. Agents read streams. */
export const isLeftToAgent = ({ hasIstioAgent }: Pick<Resource, "hasIstioAgent">, shape: Shape): boolean =>
  hasIstioAgent === true && shape === "stream";

/** An extension's name, and the one that stands for it and its code. */
type Renaming = readonly [name: string, fetched: string];

const none: readonly Renaming[] = [];

/** Those of a class in a shape; as a rule none, and then the one list. */
export function renamingsOf(extensions: Parted | undefined, shape: Shape): readonly Renaming[] {
  if (extensions === undefined) return none;
  const found = [...extensions.shared, ...extensions.own].flatMap((resource): Renaming[] => {
    const { name, module } = resource;
    return module === undefined || isLeftToAgent(resource, shape) ? [] : [[name, fetchedName(name, module)]];
  });
  return found.length === 0 ? none : found;
}

/** Listeners whose filters ask for extensions by the names that stand for their code. */
export function withFetchedNames(
  listeners: readonly Resource[],
  renamings: readonly Renaming[],
  memo: Memo,
): readonly Resource[] {
  if (renamings.length === 0 || listeners.length === 0) return listeners;
  return renamed(memo, { listeners, renamings });
}

const renamed = query(
  "listeners that ask for fetched code",
  { renamings: "value" },
  (
    { listeners, renamings }: { readonly listeners: readonly Resource[]; readonly renamings: readonly Renaming[] },
    memo: Memo,
  ): readonly Resource[] => listeners.map((listener) => renamedListener(memo, { listener, renamings })),
);

const renamedListener = query(
  "listener that asks for fetched code",
  { renamings: "value" },
  ({ listener, renamings }: { readonly listener: Resource; readonly renamings: readonly Renaming[] }): Resource => {
    const names = new Map(renamings);
    const json = mapJson(listener.json, (object) => renamedFilter(object, names));
    return json === listener.json || !isJsonObject(json) ? listener : { ...listener, json };
  },
);

function renamedFilter(object: JsonObject, names: ReadonlyMap<string, string>): JsonObject {
  const { name, configDiscovery } = object;
  const fetched = typeof name === "string" && isJsonObject(configDiscovery) ? names.get(name) : undefined;
  return fetched === undefined ? object : { ...object, name: fetched };
}
