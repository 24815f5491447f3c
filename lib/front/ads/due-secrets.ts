import type { StreamKind } from "../../streams/due.ts";
import { changedSet, entriesIn, namesIn, valueOf } from "../../streams/name-map.ts";
import { secretBinary } from "../../streams/secret-binary.ts";
import { afterSent, type SecretDue, type SecretWatch, sentOf } from "../../streams/secret-watch.ts";
import type { SecretSources, SecretsOfClass } from "../secrets/secret-answer.ts";
import { type SecretReader, secretChanges, secretsVersion } from "../secrets/secret-changes.ts";
import { secretTtlMs } from "../secrets/secrets.ts";

/**
 * What is to be told of secrets, to a node that has proven who it is and whose own resources name them: the rules are those of polls.
 * What cannot be opened now is passed over, and its reader keeps what it has.
 *
 * The names of the last requests are looked up at once. All others are looked up again once a second, and then only those that the
 * class names or that the reader has: of other names there is nothing to tell.
 *
 * @returns undefined where nothing was looked up
 */
export async function dueSecrets(
  front: SecretSources,
  { kind, nowMs, ...reader }: SecretReader & { readonly kind: StreamKind; readonly nowMs: number },
  before: SecretWatch,
): Promise<SecretDue | undefined> {
  const isDue = isLookDue(before, reader.secrets, nowMs);
  const names = namesIn(isDue ? changedSet(before.asked, knownNames(before, reader.secrets)) : before.asked);
  if (names.length === 0 && !isDue && !before.isOwed) return undefined;
  const sent = new Map(names.flatMap((name) => sentOf(before, name)));
  const { changed, missing, sent: now } = await secretChanges(front, reader, names, sent);
  const after = afterSent(before, now);
  const looked = isDue ? { atMs: nowMs, secrets: reader.secrets } : before.looked;
  return {
    // Of the state of the world, what is not in an answer says nothing.
    isAnswer: before.isOwed || changed.length > 0 || (kind === "delta" && missing.length > 0),
    changed: changed.map(({ name, version, resource }) => ({ name, version, value: secretBinary(resource) })),
    missing: missing.map(({ name }) => name),
    version: secretsVersion(entriesIn(after.has)),
    after: { ...after, looked },
  };
}

/** A look that a timer asks for may come a little early, and requests that come all the time must not put it off. */
const isLookDue = ({ looked }: SecretWatch, { named, grants, bundles }: SecretsOfClass, nowMs: number): boolean =>
  looked === undefined ||
  looked.secrets.named !== named ||
  looked.secrets.grants !== grants ||
  looked.secrets.bundles !== bundles ||
  nowMs - looked.atMs >= secretTtlMs / 2;

/** The wanted names that a look may find something new of: those that the class names, and those that the reader has. */
function knownNames({ watch: { names }, has }: SecretWatch, { named }: SecretsOfClass): readonly string[] {
  if (names === "all") return [];
  return [...namesIn(has), ...named.filter((name) => valueOf(names, name) !== undefined)];
}
