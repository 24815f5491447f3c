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
  const classes = new Map<string, ProxyClass>();
  const ids = proxies.map((proxy, at) => {
    const [name, of] = [names[at], views[at]];
    if (name === undefined || of === undefined) throw new Error(`no views of ${proxy.id}`);
    // Keys name what was selected. Should two selections ever have one name, neither may get the other's answers.
    for (let id = name, turn = 2; ; id = `${name}-${turn}`, turn += 1) {
      const known = classes.get(id);
      if (known === undefined) classes.set(id, { id, proxy, views: of });
      else if (memo.known !== undefined && !areSame(known.views, of)) continue;
      return id;
    }
  });
  const found = [...classes.values()];
  const order = orderOf(memo, { ids: sameList(memo, "ids of found classes", [...classes.keys()]) });
  const sorted = order.flatMap((at) => found[at] ?? []);
  return {
    ids,
    classes: classesOf(memo, "", {
      id: sorted.map(({ id }) => id),
      proxy: sorted.map(({ proxy }) => proxy),
      views: sorted.map(({ views }) => views),
    }),
  };
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

const areSame = (a: ProxyViews, b: ProxyViews): boolean =>
  haveSameClusters(a, b) &&
  a.endpoints === b.endpoints &&
  a.listeners === b.listeners &&
  a.routes === b.routes &&
  namesIn(a) === namesIn(b);

const namesIn = (views: ProxyViews): NameView | undefined => (views.kind === "envoy" ? views.names : undefined);

const classesOf = column("classes of proxies", ["views", "id", "proxy"], (row: ProxyClass): ProxyClass => row);
