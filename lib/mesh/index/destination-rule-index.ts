import type { ConfigKey, Diagnostic, Stage } from "../../base/diagnostic.ts";
import type { DiagnosticCode } from "../../base/diagnostic-codes.ts";
import { byAge, type Config, keysOf } from "../../config/config.ts";
import type { DestinationRule } from "../../config/kinds/destination-rule.ts";
import { fullHostName } from "../../config/values/host-name.ts";
import { isSubset, sameLabels } from "../../config/values/labels.ts";
import { internList } from "../../incremental/keep-identity.ts";
import { lazily } from "../../incremental/lazy.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { type HostTable, hostTable, mostSpecific } from "../hosts/host-table.ts";
import { filledPolicy } from "./fill-traffic-policy.ts";

/** The destination rule that applies to a host: several objects for one host merged into one. */
export interface MeshDestinationRule {
  /** Metadata of the first object; the merged spec, host fully qualified. */
  readonly config: Config<DestinationRule>;
  readonly from: readonly ConfigKey[];
}

export interface DestinationRuleIndex {
  /**
   * Rules for a service seen from a namespace, in order; empty when there are none.
   * @see docs/how-istio-does-it/destination-rules.md#which-rule-applies
   */
  lookup(clientNamespace: string, hostname: string, serviceNamespace: string): readonly MeshDestinationRule[];
}

/** Rules of one namespace by host, merged; a host has several where exports or selectors differ. */
interface Pool {
  readonly byHost: Map<string, Entry[]>;
  readonly table: () => HostTable<readonly Entry[]>;
}

interface Entry {
  readonly rule: MeshDestinationRule;
  readonly exportTo: ReadonlySet<string>;
}

interface IndexInputs {
  readonly configs: readonly Config<DestinationRule>[];
  readonly exportDefault: readonly string[];
  readonly rootNamespace: string;
  /** A rule is filled from policies of the Gateway API for its host; otherwise the older of them counts. */
  readonly fillsFromPolicies: boolean;
}

/** The index, remembered. */
export const destinationRuleIndex = query(
  "destination rule index",
  { exportDefault: "value" },
  (inputs: IndexInputs, memo: Memo) => indexDestinationRules(inputs, memo),
);

/**
 * All destination rules, ready for lookup by client namespace and service.
 * @param inputs configs in any order
 * @see docs/how-istio-does-it/destination-rules.md#merging-rules-of-one-host
 * @see istio 1.30.3 pilot/pkg/model/destination_rule.go
 */
export function indexDestinationRules(inputs: IndexInputs, memo: Memo): Stage<DestinationRuleIndex> {
  const { configs, exportDefault, rootNamespace, fillsFromPolicies } = inputs;
  const diagnostics: Diagnostic[] = [];
  const local = new Map<string, Pool>();
  const exported = new Map<string, Pool>();
  const rootLocal = createPool();
  const mergeInto: MergeRules = (into, added) => mergedRules(memo, { into, added, fillsFromPolicies });
  const sorted = [...configs].sort((a, b) => Number(!hasSelector(a)) - Number(!hasSelector(b)) || byAge(a, b));
  for (const written of sorted) {
    const { namespace } = written.meta;
    const exportTo: ReadonlySet<string> = new Set(hasSelector(written) ? ["."] : written.spec.exportTo);
    const rule = ruleOfHost(memo, { written });
    const entry: Entry = { rule, exportTo };
    if (exportTo.size === 0 || exportTo.has("*") || exportTo.has(".") || exportTo.has(namespace)) {
      merge(poolOf(local, namespace), entry, diagnostics, mergeInto);
    }
    if (!isPrivate(exportTo, namespace, exportDefault)) merge(poolOf(exported, namespace), entry, [], mergeInto);
    else if (namespace === rootNamespace) merge(rootLocal, entry, [], mergeInto);
  }
  // Equal answers are one list, so that what is made from them can be remembered.
  const listOf = (entries: readonly Entry[]): readonly MeshDestinationRule[] =>
    internList(
      memo,
      entries.map((entry) => entry.rule),
    );
  const lookup = (
    clientNamespace: string,
    hostname: string,
    serviceNamespace: string,
  ): readonly MeshDestinationRule[] => {
    const first = clientNamespace === rootNamespace ? rootLocal : local.get(clientNamespace);
    const own = first && mostSpecific(first.table(), hostname)?.value;
    if (own !== undefined) return listOf(own);
    for (const namespace of [serviceNamespace, rootNamespace]) {
      const pool = exported.get(namespace);
      const found = pool === undefined ? undefined : mostSpecific(pool.table(), hostname)?.value;
      const visible = found?.filter(
        ({ exportTo }) => exportTo.size === 0 || exportTo.has("*") || exportTo.has(clientNamespace),
      );
      if (visible !== undefined && visible.length > 0) return listOf(visible);
    }
    return [];
  };
  return { value: { lookup }, diagnostics };
}

/** The rule of a scope's candidates that applies: selector rules of the scope's own namespace come first, outbound only. */
export function destinationRuleFor(
  candidates: readonly MeshDestinationRule[] | undefined,
  direction: "outbound" | "inbound",
  namespace: string,
  labels: Readonly<Record<string, string>>,
): MeshDestinationRule | undefined {
  let general: MeshDestinationRule | undefined;
  for (const rule of candidates ?? []) {
    if (!hasSelector(rule.config)) general = rule;
    else if (direction === "outbound" && rule.config.meta.namespace === namespace) {
      if (isSubset(rule.config.spec.workloadSelector?.matchLabels ?? {}, labels)) return rule;
    }
  }
  return general;
}

const ruleOfHost = query("destination rule", ({ written }: { readonly written: Config<DestinationRule> }) =>
  withFullName(written),
);

function withFullName(written: Config<DestinationRule>): MeshDestinationRule {
  const host = fullHostName(written.spec.host, written.meta.namespace, written.meta.domain);
  const config = host === written.spec.host ? written : { ...written, spec: { ...written.spec, host } };
  return { config, from: keysOf(written) };
}

const hasSelector = (config: Config<DestinationRule>): boolean => config.spec.workloadSelector !== undefined;

function isPrivate(exportTo: ReadonlySet<string>, namespace: string, exportDefault: readonly string[]): boolean {
  if (exportTo.size === 0) return exportDefault.includes(".");
  return exportTo.size === 1 && (exportTo.has(".") || exportTo.has(namespace));
}

function createPool(): Pool {
  const byHost = new Map<string, Entry[]>();
  return { byHost, table: lazily(() => hostTable<readonly Entry[]>(byHost)) };
}

function poolOf(pools: Map<string, Pool>, namespace: string): Pool {
  let pool = pools.get(namespace);
  if (pool === undefined) {
    pool = createPool();
    pools.set(namespace, pool);
  }
  return pool;
}

/** Adds a rule to the rules of its host: into those with the same exports and selector, beside them otherwise. */
function merge(pool: Pool, added: Entry, diagnostics: Diagnostic[], mergeInto: MergeRules): void {
  const { host, workloadSelector: selector } = added.rule.config.spec;
  const entries = pool.byHost.get(host);
  if (entries === undefined) {
    pool.byHost.set(host, [added]);
    return;
  }
  let separately = true;
  for (const [at, existing] of entries.entries()) {
    const same = sameSet(existing.exportTo, added.exportTo);
    separately = !same;
    const wider =
      existing.exportTo.size > 0 && [...existing.exportTo].every((namespace) => added.exportTo.has(namespace));
    if (!same && !wider) continue;
    const other = existing.rule.config.spec.workloadSelector;
    if (selector !== undefined && other !== undefined) {
      if (!sameLabels(selector.matchLabels ?? {}, other.matchLabels ?? {})) {
        separately = true;
        continue;
      }
      separately = false;
    }
    if (selector === undefined && other === undefined) separately = false;
    const merged = mergeInto(existing.rule, added.rule);
    diagnostics.push(...merged.diagnostics);
    entries[at] = { exportTo: existing.exportTo, rule: merged.value };
  }
  if (separately) entries.push(added);
}

type MergeRules = (into: MeshDestinationRule, added: MeshDestinationRule) => Stage<MeshDestinationRule>;

interface MergeInputs {
  readonly into: MeshDestinationRule;
  readonly added: MeshDestinationRule;
  readonly fillsFromPolicies: boolean;
}

const mergedRules = query("merged destination rules", ({ into, added, fillsFromPolicies }: MergeInputs) =>
  mergeRules(into, added.config, fillsFromPolicies),
);

/** Stands for a policy of the Gateway API, or is merged into one that does. */
const isOfPolicy = ({ madeFrom }: Config<DestinationRule>): boolean => madeFrom !== undefined;

/** Subsets side by side, the older of a name; the older policy if it has one, unless a rule is filled from a policy of the Gateway API. */
function mergeRules(
  into: MeshDestinationRule,
  added: Config<DestinationRule>,
  fillsFromPolicies: boolean,
): Stage<MeshDestinationRule> {
  const diagnostics: Diagnostic[] = [];
  const { spec } = into.config;
  const names = new Set((spec.subsets ?? []).map((subset) => subset.name));
  const subsets = [...(spec.subsets ?? [])];
  for (const [at, subset] of (added.spec.subsets ?? []).entries()) {
    if (!names.has(subset.name)) subsets.push(subset);
    else diagnostics.push(ignored(into, added, ["spec", "subsets", at], `subset ${subset.name}`, "duplicate-subset"));
  }
  const isFilled = fillsFromPolicies && isOfPolicy(into.config) !== isOfPolicy(added);
  if (spec.trafficPolicy !== undefined && added.spec.trafficPolicy !== undefined && !isFilled) {
    diagnostics.push(ignored(into, added, ["spec", "trafficPolicy"], "the traffic policy", "duplicate-traffic-policy"));
  }
  const [rule, backend] = isOfPolicy(into.config)
    ? [added.spec.trafficPolicy, spec.trafficPolicy]
    : [spec.trafficPolicy, added.spec.trafficPolicy];
  const trafficPolicy = isFilled ? filledPolicy(rule, backend) : (spec.trafficPolicy ?? added.spec.trafficPolicy);
  const merged = {
    ...spec,
    ...(subsets.length === 0 ? {} : { subsets }),
    ...(trafficPolicy === undefined ? {} : { trafficPolicy }),
  };
  return { value: { config: { ...into.config, spec: merged }, from: [...into.from, ...keysOf(added)] }, diagnostics };
}

function ignored(
  into: MeshDestinationRule,
  added: Config<DestinationRule>,
  path: Diagnostic["path"],
  what: string,
  code: DiagnosticCode,
): Diagnostic {
  const { namespace, name } = into.config.meta;
  return {
    code,
    severity: "warning",
    origin: added.origin,
    path,
    message: `${what} for host ${into.config.spec.host} is ignored: DestinationRule ${namespace}/${name} came first`,
    hint: "merge the two rules into one object",
  };
}

function sameSet(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((element) => b.has(element));
}
