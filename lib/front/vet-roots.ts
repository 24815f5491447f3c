import { PortolanError } from "../config/diagnostic.ts";
import { isSigned, type TrustedKey } from "../snapshot/signatures.ts";
import type { ObjectStore } from "../storage/object-store.ts";

/**
 * Lets a root pass that a trusted key has signed; in the place of any other comes the last one that passed.
 *
 * @returns a function that throws PortolanError while none has passed yet
 */
export function createVetting(
  store: ObjectStore,
  trusted: readonly TrustedKey[] | undefined,
  onError: (cause: unknown) => void,
): (root: string) => Promise<string> {
  if (trusted === undefined) return async (root) => root;
  const passed = new Set<string>();
  let last: string | undefined;
  return async (root) => {
    if (passed.has(root) || (await isSigned(store, trusted, root))) {
      passed.add(root);
      last = root;
      return root;
    }
    const problem = new PortolanError(`root ${root} is signed by none of the trusted keys`);
    onError(problem);
    if (last === undefined) throw problem;
    return last;
  };
}
