/**
 * What all objects of one namespace may expand to together: without it, many objects that are each within their limits would still fill
 * the memory of a compile for the whole mesh.
 */

import type { Diagnostic, Stage } from "../../base/diagnostic.ts";
import { type Config, keyOf } from "../../config/config.ts";
import type { ServiceEntry } from "../../config/kinds/service-entry.ts";
import type { VirtualService } from "../../config/kinds/virtual-service.ts";
import {
  copiesOf,
  maxCopiedCharacters,
  maxServicePorts,
  routesLength,
  servicePortsOf,
} from "../../config/rules/expansion.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { configsByKind } from "./configs-by-kind.ts";

/** So many times what one object may expand to. */
const objectsPerNamespace = 4;

interface Limit {
  readonly most: number;
  /** In messages. */
  readonly of: string;
}

const entryLimit: Limit = { most: objectsPerNamespace * maxServicePorts, of: "service ports" };
const routeLimit: Limit = { most: objectsPerNamespace * maxCopiedCharacters, of: "characters of routes" };

/**
 * The objects without those that go beyond what their namespace may expand to: the oldest are kept, and of one age the first by name.
 *
 * @returns the same list where none does; `too-large` for each object that is left out
 */
export function withinNamespaceLimits(configs: readonly Config[], memo: Memo): Stage<readonly Config[]> {
  const of = configsByKind(configs, memo);
  const entries = entriesBeyond(memo, { list: of("ServiceEntry") });
  const services = routesBeyond(memo, { list: of("VirtualService") });
  if (entries.length + services.length === 0) return { value: configs, diagnostics: [] };
  return remaining(memo, { configs, entries, services });
}

interface Beyond {
  readonly config: Config;
  readonly diagnostic: Diagnostic;
}

const entriesBeyond = query(
  "service entries beyond the limit of their namespace",
  ({ list }: { readonly list: readonly Config<ServiceEntry>[] }) =>
    beyond(list, ({ spec }) => servicePortsOf(spec), entryLimit),
);

const routesBeyond = query(
  "virtual services beyond the limit of their namespace",
  ({ list }: { readonly list: readonly Config<VirtualService>[] }, memo: Memo) => {
    const copiedLength = (config: Config<VirtualService>): number => {
      const copies = copiesOf(config.spec);
      // One copy is no longer than what is written.
      return copies < 2 ? 0 : copies * lengthOfRoutes(memo, { config });
    };
    return beyond(list, copiedLength, routeLimit);
  },
);

const lengthOfRoutes = query(
  "length of the routes of a virtual service",
  ({ config }: { readonly config: Config<VirtualService> }) => routesLength(config.spec),
);

/** @param list oldest first */
function beyond<Spec>(
  list: readonly Config<Spec>[],
  expansionOf: (config: Config<Spec>) => number,
  { most, of }: Limit,
): readonly Beyond[] {
  const sums = new Map<string, number>();
  return list.flatMap((config): readonly Beyond[] => {
    const { namespace } = config.meta;
    const before = sums.get(namespace) ?? 0;
    const own = expansionOf(config);
    if (before + own <= most) {
      sums.set(namespace, before + own);
      return [];
    }
    const message = `expands to ${own} ${of}, and the older objects of namespace ${namespace} to ${before}; the limit is ${most} for a namespace, so this object is left out`;
    const diagnostic: Diagnostic = {
      code: "too-large",
      severity: "error",
      origin: { ...config.origin, key: keyOf(config) },
      path: [],
      message,
      hint: "write shorter lists, or move objects to another namespace",
    };
    return [{ config, diagnostic }];
  });
}

const remaining = query(
  "objects within the limits of their namespaces",
  ({
    configs,
    entries,
    services,
  }: {
    readonly configs: readonly Config[];
    readonly entries: readonly Beyond[];
    readonly services: readonly Beyond[];
  }): Stage<readonly Config[]> => {
    const all = [...entries, ...services];
    const without = new Set(all.map(({ config }) => config));
    return {
      value: configs.filter((config) => !without.has(config)),
      diagnostics: all.map(({ diagnostic }) => diagnostic),
    };
  },
);
