import { byCodePoint } from "../../base/diagnostic.ts";
import { classPrefix } from "../../base/proxy-build.ts";
import { column } from "../../incremental/column.ts";
import { keepList } from "../../incremental/keep-identity.ts";
import type { Memo } from "../../incremental/memo.ts";
import { fingerprint, plainText } from "../../incremental/plain-text.ts";
import { query } from "../../incremental/query.ts";
import { together, valuesOf } from "../../incremental/rearranged.ts";
import type { Proxy } from "../proxy/proxy.ts";
import { eachOf, type ProxyViews, rowsInOrder, type ViewColumns } from "../views/view-columns.ts";
import type { OutboundClusterView, View } from "../views/views.ts";

/** Proxies that get the same answers. */
export interface ProxyClass {
  /** `<type>-<hash of what was selected>`, and `<type>-istio-…` for Istio's own proxies: the same as long as the class selects the same things. */
  readonly id: string;
  /** One of them; any would do. */
  readonly proxy: Proxy;
  readonly views: ProxyViews;
}

/** Classes, column by column: a change of what all of them see makes none of them anew. */
export interface ProxyClasses {
  /** Sorted. */
  readonly ids: readonly string[];
  readonly proxies: readonly Proxy[];
  readonly views: ViewColumns;
}

/** One after the other, for those who ask for single ones. */
export function eachClass({ ids, proxies, views }: ProxyClasses): readonly ProxyClass[] {
  const each = eachOf(views);
  return ids.flatMap((id, at): readonly ProxyClass[] => {
    const [proxy, of] = [proxies[at], each[at]];
    return proxy === undefined || of === undefined ? [] : [{ id, proxy, views: of }];
  });
}

/** Some classes, in an order of their own. */
export const classesAt = (memo: Memo, classes: ProxyClasses, order: readonly number[]): ProxyClasses => ({
  ids: valuesOf(memo, classes.ids, order),
  proxies: valuesOf(memo, classes.proxies, order),
  views: rowsInOrder(memo, classes.views, order),
});

/** The classes of proxies. */
interface Entered {
  /** Of each proxy, that of its class. */
  readonly ids: readonly string[];
  readonly classes: ProxyClasses;
}

/**
 * Puts proxies into classes by their views.
 *
 * @param views a row for each proxy
 */
export function enterAll(proxies: readonly Proxy[], views: ViewColumns, memo: Memo): Entered {
  const all = keepList(memo, "proxies of classes", proxies);
  const names = namesOf(all, views, memo);
  // As a rule each has a class of its own, the one of before.
  const { ids, firsts } = namedApart(memo, { names }) ?? namedByViews(names, views, memo);
  return { ids, classes: classesAt(memo, { ids, proxies: all, views }, firsts) };
}

/** Of each proxy the name of its class: by its type and the keys of its views. */
function namesOf(proxies: readonly Proxy[], views: ViewColumns, memo: Memo): readonly string[] {
  const { envoyRows, envoys, proxylessRows, proxyless } = views;
  const keysOf = (part: string, view: readonly (View | undefined)[]) => keysOfViews(memo, part, { view });
  const typesOf = (rows: readonly number[]) => types(memo, { proxies, rows });
  const ofEnvoys = namesOfClasses(memo, "envoys", {
    clusters: textsOfKeys(memo, "clusters", { key: envoys.clusterKeys }),
    endpoints: keysOf("endpoints", envoys.endpoints),
    listeners: keysOf("listeners", envoys.listeners),
    routes: keysOf("routes", envoys.routes),
    names: keysOf("names", envoys.names),
    prefix: prefixes(memo, "envoys", { type: typesOf(envoyRows), view: envoys.outbound }),
  });
  const viewsOf = (type: "clusters" | "endpoints" | "listeners" | "routes") =>
    keysOf(
      `${type} of programs`,
      proxyless.map((of) => of[type]),
    );
  const ofProxyless = namesOfClasses(memo, "programs", {
    clusters: viewsOf("clusters"),
    endpoints: viewsOf("endpoints"),
    listeners: viewsOf("listeners"),
    routes: viewsOf("routes"),
    names: proxyless.map(() => undefined),
    prefix: typesOf(proxylessRows),
  });
  return together(memo, { rows: envoyRows, values: ofEnvoys }, { rows: proxylessRows, values: ofProxyless });
}

const types = query(
  "types of proxies",
  ({ proxies, rows }: { readonly proxies: readonly Proxy[]; readonly rows: readonly number[] }) =>
    rows.flatMap((row) => proxies[row]?.type ?? []),
);

interface PrefixRow {
  readonly type: Proxy["type"];
  readonly view: OutboundClusterView;
}

const prefixes = column("prefixes of class names", ["type", "view"], ({ type, view: { proxy } }: PrefixRow): string =>
  classPrefix(type, proxy.build),
);

/** As texts: a view that is made anew has as a rule the key of before. */
const keysOfViews = column(
  "keys of views",
  ["view"],
  ({ view }: { readonly view: View | undefined }): string | undefined => view?.key(),
);

const textsOfKeys = column("texts of view keys", ["key"], ({ key }: { readonly key: View["key"] }): string => key());

interface Named extends Pick<Entered, "ids"> {
  /** Places of the first proxy of each class, by the ids of these. */
  readonly firsts: readonly number[];
}

/** @returns undefined where two have one name */
const namedApart = query(
  "proxies of different names",
  ({ names }: { readonly names: readonly string[] }, memo: Memo): Named | undefined =>
    new Set(names).size < names.length ? undefined : { ids: names, firsts: orderOf(memo, { ids: names }) },
);

function namedByViews(names: readonly string[], views: ViewColumns, memo: Memo): Named {
  const each = eachOf(views);
  const classes = new Map<string, number>();
  const ids = names.map((name, at) => {
    // A class is the keys of its views, whatever is remembered. Should two lists of keys ever hash to one name, they stay apart.
    for (let id = name, turn = 2; ; id = `${name}-${turn}`, turn += 1) {
      const first = classes.get(id);
      if (first === undefined) classes.set(id, at);
      else if (!haveSameKeys(each[first], each[at])) continue;
      return id;
    }
  });
  const firsts = [...classes.values()];
  const order = orderOf(memo, { ids: keepList(memo, "ids of found classes", [...classes.keys()]) });
  return {
    ids: keepList(memo, "ids of proxies", ids),
    firsts: keepList(
      memo,
      "firsts of classes",
      order.flatMap((at) => firsts[at] ?? []),
    ),
  };
}

/** The places of ids when they are sorted: most changes leave all classes where they are. */
const orderOf = query("order of classes", ({ ids }: { readonly ids: readonly string[] }) =>
  [...ids.keys()].sort((a, b) => byCodePoint(ids[a] ?? "", ids[b] ?? "")),
);

/** By the keys of its views. */
interface ClassName {
  readonly clusters: string | undefined;
  readonly endpoints: string | undefined;
  readonly listeners: string | undefined;
  readonly routes: string | undefined;
  readonly names: string | undefined;
  /** What sort of proxies it is of. */
  readonly prefix: string;
}

const namesOfClasses = column(
  "names of classes",
  ["clusters", "endpoints", "listeners", "routes", "names", "prefix"],
  ({ clusters, endpoints, listeners, routes, names, prefix }: ClassName) => {
    const keys = [clusters, endpoints, listeners, routes, ...(names === undefined ? [] : [names])];
    return `${prefix}-${fingerprint(plainText(keys))}`;
  },
);

const haveSameKeys = (a: ProxyViews | undefined, b: ProxyViews | undefined): boolean =>
  a !== undefined &&
  b !== undefined &&
  a.clusters.key() === b.clusters.key() &&
  a.endpoints.key() === b.endpoints.key() &&
  a.listeners.key() === b.listeners.key() &&
  a.routes.key() === b.routes.key() &&
  nameKeyOf(a) === nameKeyOf(b);

const nameKeyOf = (views: ProxyViews): string | undefined => (views.kind === "envoy" ? views.names?.key() : undefined);
