import { identityText } from "../base/diagnostic.ts";
import { fieldsOf, textOf } from "../base/untyped.ts";
import { byAge, type Config } from "../config/config.ts";
import type { AuthorizationPolicy, Rule } from "../config/kinds/authorization-policy.ts";
import type { JWTRule } from "../config/kinds/request-authentication.ts";
import type { PolicyTarget } from "../config/kinds/selector.ts";
import {
  type Decision,
  decide,
  type GuardedWorkload,
  isPostureKind,
  type Posture,
  portsNamedIn,
  postures,
} from "./posture.ts";
import { requestText, sizeOf, type Witness, witnessesOf } from "./requests.ts";

/** By which an object says that its change is meant: `closes`, `opens`, or both with a comma between. */
export const acceptAnnotation = "admission.portolan.dev/accept";

/** A change of one security object, with everything that counts beside it. */
export interface PolicyChange {
  /** The object as it was; undefined where there was none. */
  readonly before: Config | undefined;
  /** As it is to be; undefined where it is deleted. */
  readonly after: Config | undefined;
  /** All configuration that is known, with or without the object. */
  readonly configs: readonly Config[];
  readonly rootNamespace: string;
  /** Workloads that are known; none: those count that the object selects, before or after. */
  readonly workloads: readonly GuardedWorkload[];
}

/**
 * Says which workloads a change would close or open, unless the object says that this is meant.
 *
 * @returns one sentence for each effect; none where the change is accepted
 */
export function refusedEffects(change: PolicyChange): readonly string[] {
  const { before, after, configs, rootNamespace } = change;
  const subject = after ?? before;
  if (subject === undefined || !isPostureKind(subject.meta)) return [];
  const accepted = new Set((subject.meta.annotations[acceptAnnotation] ?? "").split(",").map((word) => word.trim()));
  const key = identityText(subject.origin.key);
  const others = configs.filter(({ origin }) => identityText(origin.key) !== key);
  const workloads = change.workloads.length > 0 ? change.workloads : targetsOf(before, after);
  const ports = portsNamedIn([...others, before, after].filter((one) => one !== undefined));
  const under = (object: Config | undefined) =>
    postures(workloads, (object === undefined ? others : [...others, object]).toSorted(byAge), rootNamespace, ports);
  const [was, is] = [under(before), under(after)];
  const changed = [before, after].flatMap(rulesOf);
  const told = new Map<string, readonly Effect[]>();
  const effectsAt = (at: number): readonly Effect[] => {
    const [old, next] = [was[at], is[at]];
    if (old === undefined || next === undefined) return [];
    // Workloads under the same policies come to the same.
    const group = `${old.group}\n${next.group}`;
    const known = told.get(group) ?? effectsOf(old, next, changed, key);
    told.set(group, known);
    return known;
  };
  const byEffect = new Map<string, { readonly effect: Effect; readonly hit: GuardedWorkload[] }>();
  for (const [at, workload] of workloads.entries()) {
    for (const effect of effectsAt(at)) {
      const known = byEffect.get(effect.says) ?? { effect, hit: [] };
      byEffect.set(effect.says, known);
      known.hit.push(workload);
    }
  }
  return [...byEffect.values()].flatMap(({ effect, hit }) =>
    accepted.has(effect.word) ? [] : [`the change ${effect.says} ${namesOf(hit)}; ${remedy(effect.word)}`],
  );
}

interface Effect {
  readonly word: "closes" | "opens";
  /** Up to the workloads. */
  readonly says: string;
}

const rulesOf = (object: Config | undefined): readonly Rule[] =>
  object?.meta.kind === "AuthorizationPolicy" ? ((object.spec as AuthorizationPolicy).rules ?? []) : [];

/** So many requests are tried, and so many patterns compared with them: an API server waits for the answer. */
const maxWitnesses = 20_000;
const maxComparisons = 4_000_000;

/** What a change does to a workload. @param key of the object that changes */
function effectsOf(was: Posture, is: Posture, changed: readonly Rule[], key: string): readonly Effect[] {
  const effects: Effect[] = [];
  const opens = (says: string) => effects.push({ word: "opens", says });
  const specs = [was, is].map(({ policies }) => policies.map(({ spec }) => spec));
  const [before = [], after = []] = specs;
  if (JSON.stringify(before) !== JSON.stringify(after)) {
    const beside = is.policies.filter(
      ({ origin, spec: { action = "ALLOW" } }) => action === "ALLOW" && identityText(origin.key) !== key,
    );
    const besideRules = beside.flatMap(({ spec }) => spec.rules ?? []);
    const witnesses = witnessesOf(changed, besideRules, maxWitnesses) ?? [];
    const size = [...before, ...after].flatMap(({ rules = [] }) => rules).reduce((sum, rule) => sum + sizeOf(rule), 0);
    const isTooLarge = witnesses.length === 0 || witnesses.length * size > maxComparisons;
    if (isTooLarge) opens("is too large to be compared with what was, for");
    const decided = (isTooLarge ? [] : witnesses).map((one) => ({
      ...one,
      was: decide(before, one.request),
      is: decide(after, one.request),
    }));
    const opened = decided.find((one) => letsThrough(one));
    if (opened !== undefined)
      opens(`lets requests through that were refused, such as ${requestText(opened.request)}, to`);
    const isClosed = (decision: Decision) => decision === "denied" || decision === "refused";
    if (!isTooLarge && decided.every((one) => isClosed(one.is)) && !decided.every((one) => isClosed(one.was)))
      effects.push({ word: "closes", says: "denies all requests to" });
  }
  if (was.isStrict.some((strict, at) => strict && is.isStrict[at] === false)) opens("allows plain text to");
  if (was.tokens.length > 0 && is.tokens.length === 0) opens("verifies no tokens any more for");
  else if (was.tokens.length > 0) {
    const added = is.tokens.find((rule) => !was.tokens.some((old) => isAsStrict(rule, old)));
    if (added !== undefined) opens(`accepts tokens that were refused, of issuer ${added.issuer ?? ""}, for`);
  }
  const requires = ({ tokens }: Posture) => tokens.some(({ presence }) => presence === "REQUIRED");
  if (is.tokens.length > 0 && requires(was) && !requires(is)) opens("requires no token any more for");
  return effects;
}

/** A stranger that nothing allowed passes, or somebody whom a rule denied, or who was asked about elsewhere. */
function letsThrough({ was, is, isStranger }: Witness & { readonly was: Decision; readonly is: Decision }): boolean {
  if (is === "denied" || is === "refused" || was === "allowed" || was === is) return false;
  return was !== "refused" || isStranger;
}

/** Whether whoever satisfies a rule for tokens satisfies an earlier one, too. */
function isAsStrict(rule: JWTRule, old: JWTRule): boolean {
  const keysOf = ({ issuer, jwks, jwksUri }: JWTRule) => JSON.stringify([issuer, jwks, jwksUri]);
  const { audiences = [] } = old;
  const isNarrow = audiences.length === 0 || (rule.audiences ?? []).length > 0;
  return (
    keysOf(rule) === keysOf(old) &&
    isNarrow &&
    (rule.audiences ?? []).every((one) => audiences.length === 0 || audiences.includes(one))
  );
}

const remedy = (word: Effect["word"]): string =>
  `to accept it, set the annotation ${acceptAnnotation}: ${word} on the object`;

const maxNamed = 5;

function namesOf(workloads: readonly GuardedWorkload[]): string {
  const names = [...new Set(workloads.map(({ name }) => name))];
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : "";
  return `${names.slice(0, maxNamed).join(", ")}${more}`;
}

/** What the object selects stands for workloads that are not known. */
function targetsOf(...forms: readonly (Config | undefined)[]): readonly GuardedWorkload[] {
  return forms.flatMap((form) => {
    if (form === undefined) return [];
    const { selector, targetRef, targetRefs = [] } = form.spec as PolicyTarget;
    const refs = targetRef === undefined ? targetRefs : [targetRef, ...targetRefs];
    const { namespace } = form.meta;
    // A policy that names a Gateway applies to the workloads with the Gateway's label.
    if (refs.length > 0) {
      return refs.map(({ name }) => ({
        name: `the workloads of Gateway ${namespace}/${name}`,
        namespace,
        labels: { "gateway.networking.k8s.io/gateway-name": textOf(name) },
      }));
    }
    const labels = fieldsOf(selector?.matchLabels);
    const texts = Object.entries(labels).map(([label, value]) => [label, textOf(value)] as const);
    const which = texts.length === 0 ? "" : ` with ${texts.map((text) => text.join("=")).join(", ")}`;
    return [{ name: `the workloads of ${namespace}${which}`, namespace, labels: Object.fromEntries(texts) }];
  });
}
