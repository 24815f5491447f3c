import { buildIn, type ProxyBuild } from "../../../base/proxy-build.ts";
import { stringsOf } from "../../../base/untyped.ts";
import type { Labels } from "../../../config/values/labels.ts";
import { internList, internValue, listKeeper } from "../../../incremental/keep-identity.ts";
import type { Memo } from "../../../incremental/memo.ts";
import { query } from "../../../incremental/query.ts";
import type { Question } from "../../../incremental/tracked-query.ts";
import type { RegistryState, SelectedTargets } from "../../../registry/changes/registry-state.ts";
import type { Service, ServicePort, ServiceTarget } from "../../../registry/service.ts";
import type { Proxy as MeshProxy, ServedSettings } from "../../proxy/proxy.ts";

/**
 * A proxy as questions: selecting what applies to it may ask these and nothing else, and every answer that it got is
 * recorded. So which attributes of nodes matter follows from what was asked (`classes/class-reads.ts`), and proxies with the
 * same answers are of one class. Answers are plain values, or objects that are the same as long as they say the same.
 *
 * A class, for what is worked out when it is asked for: an accessor written into a literal costs V8 a hidden class for each
 * object, and that keeps the object alive until the next full collection.
 */
export class ProxyAnswers {
  readonly type: MeshProxy["type"];
  readonly namespace: string;
  readonly dnsDomain: string;
  readonly clusterId: string;
  readonly network: string;
  /** `region/zone/subzone`. */
  readonly locality: string;
  readonly nodeName: string;
  /** Name of the pod. */
  readonly name: string;
  readonly nodeCluster: string;
  readonly serviceAccount: string;
  readonly interceptionMode: MeshProxy["metadata"]["interceptionMode"];
  readonly #proxy: MeshProxy;
  readonly #targets: () => readonly ServiceTarget[];
  readonly #memo: Memo;

  /**
   * @param targets what the registries say that the workload serves: the same list for the same targets
   * @param memo gives equal answers one object
   */
  constructor(proxy: MeshProxy, targets: () => readonly ServiceTarget[], memo: Memo) {
    this.type = proxy.type;
    this.namespace = proxy.namespace;
    this.dnsDomain = proxy.dnsDomain;
    this.clusterId = proxy.clusterId;
    this.network = proxy.network;
    this.locality = proxy.locality;
    this.nodeName = proxy.nodeName;
    this.name = proxy.id.split(".")[0] ?? "";
    this.nodeCluster = proxy.nodeCluster;
    this.serviceAccount = proxy.serviceAccount;
    this.interceptionMode = proxy.metadata.interceptionMode;
    this.#proxy = proxy;
    this.#targets = targets;
    this.#memo = memo;
  }

  /** `4`, `6`, or both in the order in which they come first: `46`, `64`. */
  get families(): string {
    return [...new Set(this.#proxy.addresses.map((address) => (address.includes(":") ? "6" : "4")))].join("");
  }

  get addresses(): readonly string[] {
    return internValue(this.#memo, this.#proxy.addresses);
  }

  /** What the registries say that the workload serves. */
  get targets(): readonly ServiceTarget[] {
    return this.#targets();
  }

  label(key: string): string | undefined {
    return Object.hasOwn(this.#proxy.labels, key) ? this.#proxy.labels[key] : undefined;
  }

  annotation(key: string): string | undefined {
    return stringsOf(this.#proxy.metadata.raw.ANNOTATIONS)[key];
  }

  /**
   * Whose build of Envoy it is.
   *
   * @param silent what it counts as where it does not say
   */
  build(silent: ProxyBuild): ProxyBuild {
    return buildIn(this.#proxy.metadata.raw) ?? silent;
  }

  /** Node metadata as sent. */
  metadata(key: string): unknown {
    const { raw } = this.#proxy.metadata;
    return plain(this.#memo, Object.hasOwn(raw, key) ? raw[key] : undefined);
  }

  /** One setting of its ProxyConfig. */
  proxyConfig<K extends keyof ServedSettings>(setting: K): ServedSettings[K] {
    return plain(this.#memo, this.#proxy.metadata.proxyConfig[setting]);
  }
}

const plain = <T>(memo: Memo, value: T): T =>
  typeof value === "object" && value !== null ? internValue(memo, value) : value;

/** What a proxy was asked for one part of its views; the same list for the same questions. */
export interface AskedOfProxy {
  readonly namespace: string;
  readonly questions: readonly Question[];
}

interface Served {
  readonly registry: RegistryState;
  readonly proxy: MeshProxy;
}

interface Selected {
  readonly selected: SelectedTargets;
  readonly proxy: MeshProxy;
}

/** Most changes are of endpoints, and select nothing. */
const selectedTargets = query(
  "selected targets of a proxy",
  ({ selected, proxy }: Selected, memo: Memo): readonly ServiceTarget[] | undefined => {
    const targets = selected.of(proxy);
    return targets && oneTargets(targets, memo);
  },
);

const allTargets = query("targets of a proxy", ({ registry, proxy }: Served, memo: Memo) =>
  oneTargets(registry.serviceTargets(proxy), memo),
);

interface AllProxies {
  readonly registry: RegistryState;
  readonly allProxies: readonly MeshProxy[];
}

/** What each proxy of a census serves; the same list for the same targets. @param slot tells censuses apart */
export function targetsOfAll(
  memo: Memo,
  slot: string,
  { registry, allProxies }: AllProxies,
): readonly (readonly ServiceTarget[])[] {
  const { targets, others } = selectedTargetsOfAll(memo, { selected: registry.selectedTargets, allProxies });
  if (others.length === 0) return targets;
  const all = [...targets];
  for (const { proxy, at } of others) all[at] = allTargets(memo, { registry, proxy });
  return sameTargets(memo, slot, all);
}

const sameTargets = listKeeper<readonly ServiceTarget[]>("targets of a census");

const noTargets: readonly ServiceTarget[] = [];

const selectedTargetsOfAll = query(
  "selected targets of a census",
  (
    { selected, allProxies }: Pick<Selected, "selected"> & Pick<AllProxies, "allProxies">,
    memo: Memo,
  ): SelectedOfAll => {
    const found = allProxies.map((proxy) => selectedTargets(memo, { selected, proxy }));
    const others = [...allProxies.entries()].flatMap(([at, proxy]) => (found[at] === undefined ? [{ proxy, at }] : []));
    return { targets: found.map((targets) => targets ?? noTargets), others };
  },
);

interface SelectedOfAll {
  /** Of each proxy. */
  readonly targets: readonly (readonly ServiceTarget[])[];
  /** Proxies for which selectors do not say it, and where they stand in the census. */
  readonly others: readonly { readonly proxy: MeshProxy; readonly at: number }[];
}

/** The same list for the same targets. */
const oneTargets = (targets: readonly ServiceTarget[], memo: Memo): readonly ServiceTarget[] =>
  internList(
    memo,
    targets.map((target) => oneTarget(memo, target)),
  );

const oneTarget = query(
  "service target",
  (target: {
    readonly service: Service;
    readonly servicePort: ServicePort;
    readonly targetPort: number;
  }): ServiceTarget => target,
);

/** The labels of a proxy as a record to look keys up in; nothing can list it, since that would read all of them. */
export function labelsOf(node: Pick<ProxyAnswers, "label">): Labels {
  // A record's type says nothing of keys that are not there.
  return lookUps((key) => node.label(key) as string);
}

/** Its metadata likewise. */
export function metadataOf(node: Pick<ProxyAnswers, "metadata">): Readonly<Record<string, unknown>> {
  return lookUps((key) => node.metadata(key));
}

function lookUps<T>(answer: (key: string) => T): Readonly<Record<string, T>> {
  const refuse = (): never => {
    throw new Error("metadata of a proxy can be read by key only");
  };
  return new Proxy<Record<string, T>>(
    {},
    {
      get: (_target, key) => (typeof key === "string" ? answer(key) : undefined),
      ownKeys: refuse,
      has: refuse,
      getOwnPropertyDescriptor: refuse,
    },
  );
}
