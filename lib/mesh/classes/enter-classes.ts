import { byCodePoint } from "../../config/diagnostic.ts";
import { column } from "../memo/column.ts";
import type { Memo } from "../memo/memo.ts";
import { fingerprint, plainText } from "../memo/plain-text.ts";
import { sameList } from "../memo/same.ts";
import { step } from "../memo/step.ts";
import type { Proxy } from "../proxy/proxy.ts";
import type { NameView } from "../views/name-view.ts";
import { haveSameClusters, type ProxyViews } from "../views/views-of.ts";

/** Proxies that get the same answers. */
export interface ProxyClass {
  /** `<type>-<hash of what was selected>`: the same as long as the class selects the same things. */
  readonly id: string;
  /** One of them; any would do. */
  readonly proxy: Proxy;
  readonly views: ProxyViews;
}

/** The classes of proxies. */
interface Entered {
  /** Of each proxy, that of its class. */
  readonly ids: readonly string[];
  /** Sorted by id. */
  readonly classes: readonly ProxyClass[];
}

/**
 * Puts proxies into classes by their views.
 *
 * @param views of each proxy
 */
export function enterAll(proxies: readonly Proxy[], views: readonly ProxyViews[], memo: Memo): Entered {
  const names = namesOfClasses(memo, "", {
    clusters: views.map(({ clusters }) => clusters.key()),
    endpoints: views.map(({ endpoints }) => endpoints.key()),
    listeners: views.map(({ listeners }) => listeners.key()),
    routes: views.map(({ routes }) => routes.key()),
    names: views.map((of) => namesIn(of)?.key()),
    type: proxies.map(({ type }) => type),
  });
  // As a rule each has a class of its own, the one of before.
  const { ids, firsts } = namedApart(memo, { names }) ?? namedByViews(names, views, memo);
  return {
    ids,
    classes: classesOf(memo, "", {
      id: firsts.flatMap((at) => ids[at] ?? []),
      proxy: firsts.flatMap((at) => proxies[at] ?? []),
      views: firsts.flatMap((at) => views[at] ?? []),
    }),
  };
}

interface Named extends Pick<Entered, "ids"> {
  /** Places of the first proxy of each class, by the ids of these. */
  readonly firsts: readonly number[];
}

/** @returns undefined where two have one name */
const namedApart = step(
  "proxies of different names",
  { names: "identity" },
  ({ names }: { readonly names: readonly string[] }, memo: Memo): Named | undefined =>
    new Set(names).size < names.length ? undefined : { ids: names, firsts: orderOf(memo, { ids: names }) },
);

function namedByViews(names: readonly string[], views: readonly ProxyViews[], memo: Memo): Named {
  const classes = new Map<string, number>();
  const ids = names.map((name, at) => {
    // Keys name what was selected. Should two selections ever have one name, neither may get the other's answers.
    for (let id = name, turn = 2; ; id = `${name}-${turn}`, turn += 1) {
      const first = classes.get(id);
      if (first === undefined) classes.set(id, at);
      else if (memo.known !== undefined && !areSame(views[first], views[at])) continue;
      return id;
    }
  });
  const firsts = [...classes.values()];
  const order = orderOf(memo, { ids: sameList(memo, "ids of found classes", [...classes.keys()]) });
  return { ids, firsts: order.flatMap((at) => firsts[at] ?? []) };
}

/** The places of ids when they are sorted: most changes leave all classes where they are. */
const orderOf = step("order of classes", { ids: "identity" }, ({ ids }: { readonly ids: readonly string[] }) =>
  [...ids.keys()].sort((a, b) => byCodePoint(ids[a] ?? "", ids[b] ?? "")),
);

/** By the keys of its views. */
interface ClassName extends Readonly<Record<"clusters" | "endpoints" | "listeners" | "routes", string>> {
  readonly names: string | undefined;
  readonly type: Proxy["type"];
}

const namesOfClasses = column(
  "names of classes",
  ["clusters", "endpoints", "listeners", "routes", "names", "type"],
  ({ clusters, endpoints, listeners, routes, names, type }: ClassName) => {
    const keys = [clusters, endpoints, listeners, routes, ...(names === undefined ? [] : [names])];
    return `${type}-${fingerprint(plainText(keys))}`;
  },
);

const areSame = (a: ProxyViews | undefined, b: ProxyViews | undefined): boolean =>
  a !== undefined &&
  b !== undefined &&
  haveSameClusters(a, b) &&
  a.endpoints === b.endpoints &&
  a.listeners === b.listeners &&
  a.routes === b.routes &&
  namesIn(a) === namesIn(b);

const namesIn = (views: ProxyViews): NameView | undefined => (views.kind === "envoy" ? views.names : undefined);

const classesOf = column("classes of proxies", ["views", "id", "proxy"], (row: ProxyClass): ProxyClass => row);
