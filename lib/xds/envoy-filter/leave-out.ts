/**
 * Envoy takes a listener or a route table as a whole or not at all, so one patch that breaks a rule about the whole would cost
 * everything in it: such a patch is left out, and said. Istio passes the result on, and Envoy keeps what it had.
 */
import { type Diagnostic, keyText, type Stage } from "../../base/diagnostic.ts";
import { closingPatch, filterCloses, insertsGuard, type Patch, type Patches } from "./patch.ts";

/** Something for which Envoy refuses a whole resource. */
export interface Refusal {
  /** Continues "Envoy would refuse …: ". */
  readonly reason: string;
  /** What to do about the patch. */
  readonly hint: string;
}

export type AnyPatch = Patch<unknown>;

/** How a resource is patched and judged. */
export interface PatchedWhole<T> {
  /** For messages: `the listener 0.0.0.0_80`. */
  readonly what: string;
  /** Patches that may be to blame, in their order. */
  readonly suspects: readonly AnyPatch[];
  readonly apply: (without: ReadonlySet<AnyPatch>) => Stage<T>;
  /** Whether a filter that denies everything takes the place of a patch that is left out; of none when absent. */
  readonly isClosed?: (patch: AnyPatch) => boolean;
  /** One for each breach. */
  readonly refusals: (value: T) => readonly Refusal[];
}

/** A resource is patched and judged so often at most to find single patches to blame: the search costs the square of the patches. */
const maxJudgements = 1_000;
/** Whole EnvoyFilters are tried so many at most; of more, all are left out. */
const maxFilters = 100;

/**
 * What the patches make of a resource, without those that Envoy would refuse it for. Of several ways to mend it the one that
 * leaves fewest breaches is taken, and of equal ones the patch that came last goes; a patch that went in vain comes back.
 * What is wrong without any patch stays. Where that search would take more than `maxJudgements`, whole EnvoyFilters are left out.
 */
export function applyAcceptable<T>(patched: PatchedWhole<T>): Stage<T> {
  const { what, suspects, apply, refusals } = patched;
  // Without a patch to blame the judgement would change nothing.
  if (suspects.length === 0) return apply(new Set());
  const judged = (without: Iterable<AnyPatch>) => {
    const stage = apply(new Set(without));
    return { stage, refusals: refusals(stage.value) };
  };
  let best = judged([]);
  if (best.refusals.length === 0) return best.stage;
  const unavoidable = judged(suspects).refusals.length;
  const dropped = new Map<AnyPatch, Diagnostic>();
  for (let judgements = 2; best.refusals.length > unavoidable; ) {
    judgements += suspects.length - dropped.size;
    if (judgements > maxJudgements) return withoutFilters({ ...patched, unavoidable, judged });
    const attempts = suspects
      .filter((patch) => !dropped.has(patch))
      .map((patch) => ({ patch, ...judged([...dropped.keys(), patch]) }));
    const [next] = attempts.toReversed().sort((a, b) => a.refusals.length - b.refusals.length);
    if (next === undefined) break;
    const isMended = ({ reason }: Refusal): boolean => !next.refusals.some((left) => left.reason === reason);
    const cause = best.refusals.find(isMended) ?? best.refusals[0];
    if (cause === undefined) break;
    dropped.set(next.patch, leftOut(next.patch, what, cause));
    best = next;
  }
  for (const patch of [...dropped.keys()]) {
    const again = judged([...dropped.keys()].filter((other) => other !== patch));
    if (again.refusals.length > best.refusals.length) continue;
    dropped.delete(patch);
    best = again;
  }
  const closed = closedAmong([...dropped.keys()], patched.isClosed);
  return { value: best.stage.value, diagnostics: [...best.stage.diagnostics, ...dropped.values(), ...closed] };
}

const closedAmong = (
  dropped: readonly AnyPatch[],
  isClosed: (patch: AnyPatch) => boolean = () => false,
): readonly Diagnostic[] => dropped.filter(isClosed).map(filterCloses);

interface Judging<T> extends Pick<PatchedWhole<T>, "what" | "suspects" | "isClosed"> {
  /** Breaches that no patch causes. */
  readonly unavoidable: number;
  readonly judged: (without: Iterable<AnyPatch>) => {
    readonly stage: Stage<T>;
    readonly refusals: readonly Refusal[];
  };
}

/** Takes the EnvoyFilters one after the other, in their order, and leaves out each that causes a breach with those before it. */
function withoutFilters<T>({ what, suspects, isClosed, unavoidable, judged }: Judging<T>): Stage<T> {
  const byFilter = [...Map.groupBy(suspects, ({ key }) => keyText(key)).values()];
  const filters = byFilter.length > maxFilters ? [suspects] : byFilter;
  const without = new Set(suspects);
  const diagnostics: Diagnostic[] = [];
  for (const patches of filters) {
    for (const patch of patches) without.delete(patch);
    const { refusals } = judged(without);
    if (refusals.length <= unavoidable) continue;
    for (const patch of patches) without.add(patch);
    diagnostics.push(...leftOutTogether(patches, what, refusals));
  }
  const { stage } = judged(without);
  const closed = closedAmong([...without], isClosed);
  return { value: stage.value, diagnostics: [...stage.diagnostics, ...diagnostics, ...closed] };
}

function leftOutTogether(
  patches: readonly AnyPatch[],
  what: string,
  [refusal]: readonly Refusal[],
): readonly Diagnostic[] {
  const [first] = patches;
  if (first === undefined || refusal === undefined) return [];
  const diagnostic = leftOut(first, what, refusal);
  const more = `so this patch and ${patches.length - 1} others are left out there: too many to try each of them`;
  return [{ ...diagnostic, message: `Envoy would refuse ${what}: ${refusal.reason}; ${more}` }];
}

export function leftOut(patch: AnyPatch, what: string, { reason, hint }: Refusal): Diagnostic {
  return {
    code: "envoy-filter-refused",
    severity: "error",
    origin: patch.origin,
    path: patch.path,
    message: `Envoy would refuse ${what}: ${reason}; so this patch is left out there`,
    hint,
  };
}

/** The patches of every sort but some. In the place of one that inserts a filter which decides who may pass another denies everything. */
export function withoutPatches(patches: Patches, without: ReadonlySet<AnyPatch>): Patches {
  if (without.size === 0) return patches;
  const orClosing = <T>(patch: Patch<T>, closing: () => Patch<T>): readonly Patch<T>[] => {
    if (!without.has(patch)) return [patch];
    return insertsGuard(patch.operation, patch.value) ? [closing()] : [];
  };
  const kept = <T>(list: readonly Patch<T>[]): readonly Patch<T>[] => list.filter((patch) => !without.has(patch));
  return {
    listeners: kept(patches.listeners),
    listenerFilters: kept(patches.listenerFilters),
    filterChains: kept(patches.filterChains),
    networkFilters: patches.networkFilters.flatMap((patch) => orClosing(patch, () => closingPatch(patch, "tcp"))),
    httpFilters: patches.httpFilters.flatMap((patch) => orClosing(patch, () => closingPatch(patch, "http"))),
    routeConfigurations: kept(patches.routeConfigurations),
    virtualHosts: kept(patches.virtualHosts),
    routes: kept(patches.routes),
    clusters: kept(patches.clusters),
    extensionConfigs: patches.extensionConfigs,
  };
}
