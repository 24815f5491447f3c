import type { Stage } from "../base/diagnostic.ts";
import { sameElements } from "../incremental/same-elements.ts";
import { assemble } from "./assemble.ts";
import type { Assembly } from "./assembly.ts";
import type { RegistryState, SelectedTargets } from "./changes/registry-state.ts";
import type { RegistryInput } from "./registry-input.ts";
import { createState, newWorkloadLists, type WorkloadLists } from "./state.ts";
import { createSelectedTargets, listParts, targetParts } from "./targets.ts";

export type RegistryBuilder = (input: RegistryInput) => Stage<RegistryState>;

/** What one build leaves to the next: it changes what the next costs, never what it answers. */
interface Built {
  readonly assembly: Assembly;
  readonly workloadLists: WorkloadLists;
  /** All that the state was made from. */
  readonly parts: readonly unknown[];
  readonly state: RegistryState;
  /** All that selects workloads. */
  readonly selecting: readonly unknown[];
  readonly selectedTargets: SelectedTargets;
}

/**
 * Makes everything that runs from the objects of all clusters and the ServiceEntries, again and again: the aggregate of all
 * registries.
 *
 * A build costs what differs from the input of the builder's build before, and every `Service` and endpoint array that is
 * equal to the one before is the same object, and so is the whole state. Objects, configs and other registries' contents are
 * compared by identity, so what did not change must be handed in as the same object again.
 *
 * @returns a function that never throws; what cannot be used is left out and said in the diagnostics
 */
export function createRegistryBuilder(): RegistryBuilder {
  let former: Built | undefined;
  return (input) => {
    const assembly = assemble(input, former?.assembly);
    const workloadLists = former?.workloadLists ?? newWorkloadLists();
    const parts = partsOf(assembly);
    const ofTargets = targetParts(assembly);
    const selecting = listParts(ofTargets);
    const selectedTargets =
      former !== undefined && sameElements(former.selecting, selecting)
        ? former.selectedTargets
        : createSelectedTargets(ofTargets);
    const state =
      former !== undefined && sameElements(former.parts, parts)
        ? former.state
        : createState(assembly, selectedTargets, workloadLists);
    former = { assembly, workloadLists, parts, state, selecting, selectedTargets };
    return { value: state, diagnostics: assembly.diagnostics };
  };
}

/** The same, once. */
export const buildRegistry: RegistryBuilder = (input) => createRegistryBuilder()(input);

/** Every field of an assembly but what it was made from and what was said of it; lists and indexes by what they hold. */
function partsOf({
  input: _input,
  configs: _configs,
  diagnostics: _diagnostics,
  ...parts
}: Assembly): readonly unknown[] {
  const { clusters, entries, others, ...plain } = parts;
  return [...Object.values(plain), ...Object.values(entries), ...others, ...clusters.map(({ index }) => index)];
}
