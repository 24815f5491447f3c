import type { Diagnostic, Stage } from "../../config/diagnostic.ts";
import type { MeshConfig } from "../../config/kinds/mesh-config.ts";
import type { Classifier } from "../../snapshot/classifier.ts";
import type { Memo } from "../memo/memo.ts";
import { sameList } from "../memo/same.ts";
import { step } from "../memo/step.ts";
import type { Mesh } from "../mesh.ts";
import type { Proxy } from "../proxy/proxy.ts";
import { below } from "../views/view-columns.ts";
import { tracedViewsOf } from "../views/views-of.ts";
import { groupByAnswers } from "./alike-proxies.ts";
import { defaultSidecars } from "./default-sidecars.ts";
import { enterAll, type ProxyClasses } from "./enter-classes.ts";
import { type CensusNode, classifierOf, nodesOf, type Places, placesOf } from "./places.ts";

export interface Census {
  readonly classes: ProxyClasses;
  /** How a node becomes a class without the compiler. */
  readonly classifier: Classifier;
  /** The proxies that the compiler knows, by the names they may call themselves; in the order of `proxies`. */
  readonly nodes: readonly CensusNode[];
}

/**
 * Counts the proxies into classes, and says how the class of a node is found by what the node says of itself.
 *
 * A projection that stands for several classes (two pods alike, one of them named by an EndpointSlice of its own) is not in the
 * classifier's table: such nodes are found by name. Each namespace with sidecars has a default class, that of a sidecar
 * without labels which serves nothing; a gateway that nobody compiled for has none.
 *
 * @param memo the one that the mesh was built with: selections are told apart by identity; without one, by their names
 */
export function classify(mesh: Mesh, proxies: readonly Proxy[], memo: Memo): Stage<Census> {
  const { value, diagnostics } = countProxies(mesh, proxies, memo);
  const { classes, places } = value;
  return { value: { classes, classifier: classifierOf(memo, places), nodes: nodesOf(memo, places) }, diagnostics };
}

/** The classes of proxies, and which of them has which. */
export interface CountedProxies {
  readonly classes: ProxyClasses;
  readonly places: Places;
}

/** As `classify`, for whoever may know how nodes are found: nothing is made of that. */
export function countProxies(mesh: Mesh, proxies: readonly Proxy[], memo: Memo): Stage<CountedProxies> {
  const census = sameList(memo, "census", proxies);
  const { groups, views, reads } = groupByAnswers(mesh, census, memo);
  const defaults = defaultsOf(memo, { census, meshConfig: mesh.config });
  const all = below(memo, views, tracedViewsOf(mesh, defaults, memo, "defaults").views);
  const entered = enterAll([...groups.map(({ first }) => first), ...defaults], all, memo);
  const ids = sameList(memo, "class ids", entered.ids.slice(0, groups.length));
  const ofDefaults = defaults.map(({ type, namespace }, at): readonly [string, string] => [
    `${type}/${namespace}`,
    entered.ids[groups.length + at] ?? "",
  ]);
  return {
    value: { classes: entered.classes, places: placesOf(memo, { census, groups, ids, reads, defaults: ofDefaults }) },
    diagnostics: saidOfViews(memo, { diagnostics: all.envoys.diagnostics }),
  };
}

/** Each once. */
const saidOfViews = step(
  "diagnostics of views",
  { diagnostics: "identity" },
  ({ diagnostics }: { readonly diagnostics: readonly (readonly Diagnostic[])[] }): readonly Diagnostic[] => [
    ...new Set(diagnostics.flat()),
  ],
);

const defaultsOf = step(
  "default sidecars",
  { census: "identity", meshConfig: "identity" },
  ({ census, meshConfig }: { readonly census: readonly Proxy[]; readonly meshConfig: MeshConfig }) =>
    defaultSidecars(census, meshConfig),
);
