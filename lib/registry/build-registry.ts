import type { Stage } from "../config/diagnostic.ts";
import { assemble } from "./assemble.ts";
import type { Assembly } from "./assembly.ts";
import type { RegistryInput } from "./registry-input.ts";
import type { RegistryState } from "./registry-state.ts";
import { createState, type PodLists } from "./state.ts";

/** The part of the compiler's memo that the registry needs: keeps what it made under a name. */
export type Remember = <T>(from: readonly object[], name: string, make: () => T) => T;

const forget: Remember = (_from, _name, make) => make();

/** What is kept from one build to the next. */
interface Kept {
  assembly: Assembly | undefined;
  readonly podLists: PodLists;
}

/**
 * Everything that runs, from the objects of all clusters and the ServiceEntries: the aggregate of all registries.
 *
 * With a memo, a build costs what differs from the input of the build before under the same memo, and every `Service`
 * and endpoint array that is equal to the one before is the same object, and so is the whole state. Objects, configs
 * and other registries' contents are compared by identity, so what did not change must be handed in as the same
 * object again.
 *
 * @throws never; what cannot be used is left out and said in the diagnostics
 */
export function buildRegistry(input: RegistryInput, memo: Remember = forget): Stage<RegistryState> {
  const kept = memo<Kept>([], "registry", () => ({ assembly: undefined, podLists: new WeakMap() }));
  const assembly = assemble(input, kept.assembly);
  kept.assembly = assembly;
  const { services, endpoints, merged, completed, networkGateways, entries, clusters, others } = assembly;
  const parts = [services, endpoints, merged, completed, networkGateways, ...Object.values(entries), ...others];
  const state = memo([...parts, ...clusters.map((cluster) => cluster.index)], "registry state", () =>
    createState(assembly, kept.podLists),
  );
  return { value: state, diagnostics: assembly.diagnostics };
}
