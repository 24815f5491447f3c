import type { StreamKind } from "../../streams/due.ts";
import { secretBinary } from "../../streams/secret-binary.ts";
import { type SecretDue, type SecretWatch, secretNames } from "../../streams/secret-watch.ts";
import type { Front } from "../front.ts";
import { type SecretReader, secretChanges, secretsVersion } from "../secrets/secret-changes.ts";

/**
 * What is to be told of secrets, to a node that has proven who it is and whose own resources name them: the rules are those of polls.
 * What cannot be opened now is passed over, and its reader keeps what it has.
 *
 * @returns undefined when nothing is
 */
export async function dueSecrets(
  front: Pick<Front, "secrets">,
  { kind, ...reader }: SecretReader & { readonly kind: StreamKind },
  { watch, told: before, isOwed }: SecretWatch,
): Promise<SecretDue | undefined> {
  const { changed, missing, told } = await secretChanges(front, reader, secretNames(watch), before);
  // Of the state of the world, what is not in an answer says nothing.
  const isNews = changed.length > 0 || (kind === "delta" && missing.length > 0);
  if (!isOwed && !isNews) return undefined;
  return {
    changed: changed.map(({ name, version, resource }) => ({ name, version, value: secretBinary(resource) })),
    missing: missing.map(({ name }) => name),
    version: secretsVersion(told),
    told,
  };
}
