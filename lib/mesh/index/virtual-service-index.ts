import type { ConfigKey, Diagnostic, Stage } from "../../base/diagnostic.ts";
import type { DiagnosticCode } from "../../base/diagnostic-codes.ts";
import { byAge, type Config, keyOf, keysOf } from "../../config/config.ts";
import type { HTTPRoute, VirtualService } from "../../config/kinds/virtual-service.ts";
import { maxCopiedCharacters } from "../../config/rules/expansion.ts";
import { isWildcard } from "../../config/values/host-name.ts";
import { internList, keepList } from "../../incremental/keep-identity.ts";
import { remembered } from "../../incremental/lazy.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { meshGateway, withFullNames } from "../hosts/short-names.ts";
import { mergeDelegateRoutes } from "./delegate.ts";
import { createMergeBudget } from "./delegate-size.ts";
import { isVisibleIn, visibilityOf } from "./export-to.ts";

/** A virtual service with short names resolved, delegates merged, and the keys of all objects that went into it. */
export interface MeshVirtualService {
  readonly config: Config<VirtualService>;
  /** Hosts as fully qualified names. */
  readonly hosts: readonly string[];
  /** Whether any host is a wildcard. */
  readonly hasWildcard: boolean;
  /** `mesh` or `namespace/name`; never empty. */
  readonly gateways: readonly string[];
  readonly from: readonly ConfigKey[];
}

export interface VirtualServiceIndex {
  /** Oldest first, delegates merged into their roots. */
  readonly all: readonly MeshVirtualService[];
  /** Those bound to a gateway (`mesh` or `namespace/name`) that a namespace sees, in order of precedence. */
  forGateway(namespace: string, gateway: string): readonly MeshVirtualService[];
}

/** Objects made from Kubernetes Ingresses and Gateway API routes carry this annotation with `ingress` or `gateway`. */
export const routeSemanticsAnnotation = "internal.istio.io/route-semantics";

/** The index, remembered. */
export const virtualServiceIndex = query(
  "virtual service index",
  { exportDefault: "value" },
  (
    {
      configs,
      exportDefault,
    }: { readonly configs: readonly Config<VirtualService>[]; readonly exportDefault: readonly string[] },
    memo: Memo,
  ) => indexVirtualServices(configs, exportDefault, memo),
);

/**
 * All virtual services by the gateway they are bound to and the namespaces that see them.
 * @param configs oldest first
 * @param exportDefault mesh `defaultVirtualServiceExportTo`
 * @see docs/how-istio-does-it/virtual-services.md#which-ones
 * @see docs/how-istio-does-it/virtual-services.md#delegates
 */
export function indexVirtualServices(
  configs: readonly Config<VirtualService>[],
  exportDefault: readonly string[],
  memo: Memo,
): Stage<VirtualServiceIndex> {
  const diagnostics: Diagnostic[] = [];
  const all = withDelegates(configs, exportDefault, diagnostics, memo);
  const everywhere = new Map<string, MeshVirtualService[]>();
  const own = new Map<string, MeshVirtualService[]>();
  const exported = new Map<string, MeshVirtualService[]>();
  const consumers = new Map<string, MeshVirtualService[]>();
  for (const service of all) {
    const { namespace } = service.config.meta;
    const visibility = visibilityOf(service.config.spec.exportTo, exportDefault, namespace);
    for (const gateway of service.gateways) {
      if (visibility.everywhere) add(everywhere, gateway, service);
      if (visibility.everywhere && isOfGatewayApi(service.config)) add(consumers, `${namespace}|${gateway}`, service);
      for (const to of visibility.namespaces) add(to === namespace ? own : exported, `${to}|${gateway}`, service);
    }
  }
  const forKey = remembered((key: string): readonly MeshVirtualService[] => {
    const shared = everywhere.get(key.slice(key.indexOf("|") + 1)) ?? [];
    const consumer = consumers.get(key) ?? [];
    const rest = consumer.length === 0 ? shared : shared.filter((service) => !consumer.includes(service));
    const first = [...(own.get(key) ?? []), ...(exported.get(key) ?? []), ...consumer];
    const list = first.length === 0 ? rest : [...first, ...rest];
    return keepList(memo, `virtual services|${key}`, list);
  });
  return { value: { all, forGateway: (namespace, gateway) => forKey(`${namespace}|${gateway}`) }, diagnostics };
}

/** Whether a virtual service was made from routes of the Gateway API, which mean some things otherwise. */
export const isOfGatewayApi = ({ meta }: Config): boolean => meta.annotations[routeSemanticsAnnotation] === "gateway";

function add(map: Map<string, MeshVirtualService[]>, key: string, service: MeshVirtualService): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [service]);
  // One that names a gateway twice has just been added.
  else if (list.at(-1) !== service) list.push(service);
}

/** Roots and ordinary objects with delegates merged in, oldest first; delegates themselves are left out. */
function withDelegates(
  configs: readonly Config<VirtualService>[],
  exportDefault: readonly string[],
  diagnostics: Diagnostic[],
  memo: Memo,
): readonly MeshVirtualService[] {
  const delegates = new Map<string, Config<VirtualService>>();
  for (const config of configs) {
    if (config.spec.hosts.length === 0) delegates.set(`${config.meta.namespace}/${config.meta.name}`, config);
  }
  const used = new Set<Config<VirtualService>>();
  const result: MeshVirtualService[] = [];
  for (const config of configs) {
    if (config.spec.hosts.length === 0) continue;
    if (!config.spec.http?.some((route) => route.delegate !== undefined)) {
      result.push(plainVirtualService(memo, { config }));
      continue;
    }
    const named = delegatesOf(config, delegates, exportDefault, diagnostics, memo);
    for (const delegate of named.values()) used.add(delegate);
    const made = rootVirtualService(memo, {
      root: config,
      positions: [...named.keys()],
      delegates: internList(memo, [...named.values()]),
    });
    diagnostics.push(...made.diagnostics);
    result.push(made.value);
  }
  for (const delegate of delegates.values()) {
    if (!used.has(delegate)) diagnostics.push(unusedDelegate(delegate));
  }
  return result.sort((a, b) => byAge(a.config, b.config));
}

const plainVirtualService = query("virtual service", ({ config }: { readonly config: Config<VirtualService> }) =>
  // Names of the Gateway API are full ones.
  meshVirtualService(isOfGatewayApi(config) ? config : withFullNames(config), keysOf(config)),
);

interface RootInputs {
  readonly root: Config<VirtualService>;
  /** Of the routes that name a delegate, and the delegates that they name. */
  readonly positions: readonly number[];
  readonly delegates: readonly Config<VirtualService>[];
}

const rootVirtualService = query(
  "virtual service with delegates",
  { positions: "value" },
  ({ root, positions, delegates }: RootInputs) =>
    mergeRoot(
      root,
      new Map(delegates.map((delegate, at): [number, Config<VirtualService>] => [positions[at] ?? 0, delegate])),
    ),
);

function meshVirtualService(config: Config<VirtualService>, from: readonly ConfigKey[]): MeshVirtualService {
  const written = config.spec.gateways ?? [];
  return {
    config,
    hosts: config.spec.hosts,
    hasWildcard: config.spec.hosts.some(isWildcard),
    gateways: written.length === 0 ? [meshGateway] : [...new Set(written)],
    from,
  };
}

/** The delegates that a root names and may use, by position of the route that names them. */
function delegatesOf(
  root: Config<VirtualService>,
  delegates: ReadonlyMap<string, Config<VirtualService>>,
  exportDefault: readonly string[],
  diagnostics: Diagnostic[],
  memo: Memo,
): ReadonlyMap<number, Config<VirtualService>> {
  const named = new Map<number, Config<VirtualService>>();
  const budget = createMergeBudget(root, memo);
  for (const [at, route] of (root.spec.http ?? []).entries()) {
    if (route.delegate === undefined) continue;
    const key = `${route.delegate.namespace ?? root.meta.namespace}/${route.delegate.name ?? ""}`;
    const delegate = delegates.get(key);
    if (delegate === undefined) {
      diagnostics.push(
        droppedRoute(
          root,
          at,
          "delegate-not-found",
          `there is no delegate VirtualService ${key}`,
          "a delegate has no hosts",
        ),
      );
    } else if (
      !isVisibleIn(visibilityOf(delegate.spec.exportTo, exportDefault, delegate.meta.namespace), root.meta.namespace)
    ) {
      diagnostics.push(
        droppedRoute(
          root,
          at,
          "delegate-not-exported",
          `delegate ${key} is not exported to ${root.meta.namespace}`,
          `add ${root.meta.namespace} to the delegate's exportTo`,
        ),
      );
    } else {
      const characters = budget.take(route, delegate);
      if (characters === undefined) named.set(at, delegate);
      else diagnostics.push(tooLargeTogether(root, at, key, characters));
    }
  }
  return named;
}

function tooLargeTogether(root: Config<VirtualService>, at: number, key: string, characters: number): Diagnostic {
  const mebibytes = (of: number): number => Math.ceil(of / (1024 * 1024));
  const limit = `the limit is ${mebibytes(maxCopiedCharacters)} MiB for all delegates of one VirtualService`;
  return droppedRoute(
    root,
    at,
    "too-large",
    `with delegate ${key} this route expands to about ${mebibytes(characters)} MiB of routes; ${limit}`,
    "write fewer matches and routes in one of the two, or fewer hosts",
  );
}

function mergeRoot(
  root: Config<VirtualService>,
  named: ReadonlyMap<number, Config<VirtualService>>,
): Stage<MeshVirtualService> {
  const diagnostics: Diagnostic[] = [];
  const full = withFullNames(root);
  const http = (full.spec.http ?? []).flatMap((route, at): readonly HTTPRoute[] => {
    if (route.delegate === undefined) return [route];
    const delegate = named.get(at);
    if (delegate === undefined) return [];
    const routes = withFullNames(delegate).spec.http ?? [];
    const merged = mergeDelegateRoutes(route, routes);
    if (merged.length < routes.length) {
      const message = `${routes.length - merged.length} of ${routes.length} routes of delegate ${delegate.meta.namespace}/${delegate.meta.name} conflict with the root's matches`;
      diagnostics.push(
        droppedRoute(root, at, "delegate-match-conflict", message, "let the delegate only narrow the root's matches"),
      );
    }
    return merged;
  });
  const from = [root, ...new Set(named.values())].map(keyOf);
  return { value: meshVirtualService({ ...full, spec: { ...full.spec, http } }, from), diagnostics };
}

function droppedRoute(root: Config, at: number, code: DiagnosticCode, message: string, hint: string): Diagnostic {
  return {
    code,
    severity: "warning",
    origin: root.origin,
    path: ["spec", "http", at, "delegate"],
    message: `${message}; the route is left out`,
    hint,
  };
}

function unusedDelegate(delegate: Config): Diagnostic {
  return {
    code: "delegate-unused",
    severity: "info",
    origin: delegate.origin,
    path: [],
    message: `no VirtualService delegates to ${delegate.meta.namespace}/${delegate.meta.name}`,
    hint: "name it in the delegate field of a route, or give it hosts",
  };
}
