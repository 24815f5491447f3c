import type { Front } from "../front.ts";
import { secretBinary } from "../secrets/secret-binary.ts";
import { type SecretReader, secretChanges, secretsVersion } from "../secrets/secret-changes.ts";
import type { StreamKind } from "./due.ts";
import { type Asked, type SentAnswer, sent, type Watch } from "./watch.ts";

/** The secrets of a stream. They lie in no tree, so what was told of each is remembered by its name. */
export interface SecretWatch {
  readonly watch: Watch;
  /** Versions by name; "" for what there is not, or not for this reader. */
  readonly told: ReadonlyMap<string, string>;
  /** Whether its reader waits for an answer, whatever there is. */
  readonly isOwed: boolean;
}

/** What a request comes to, by what it comes to for any other type. */
export function askedSecrets(before: SecretWatch | undefined, { watch }: Pick<Asked, "watch">): SecretWatch {
  const { owed } = watch;
  const wanted = new Set(namesOf(watch));
  const again = new Set(owed.kind === "names" ? owed.names : []);
  const told = owed.kind === "all" ? owed.known : (before?.told ?? new Map<string, string>());
  return {
    watch: { ...watch, owed: { kind: "nothing" } },
    told: new Map([...told].filter(([name]) => wanted.has(name) && !again.has(name))),
    // Who says what he has waits for what differs, and for nothing else.
    isOwed: before?.isOwed === true || owed.kind === "names" || (owed.kind === "all" && owed.known.size === 0),
  };
}

/** There is no asking for all secrets. */
const namesOf = ({ names }: Watch): readonly string[] => (names === "all" ? [] : names);

/** One answer about secrets. */
export interface SecretDue {
  readonly changed: readonly { readonly name: string; readonly version: string; readonly value: Uint8Array }[];
  /** Names that there is nothing for. */
  readonly missing: readonly string[];
  /** Of all that its reader has then. */
  readonly version: string;
  readonly told: SecretWatch["told"];
}

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
  const { changed, missing, told } = await secretChanges(front, reader, namesOf(watch), before);
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

/** What is known of a reader once it has the answer. */
export function toldSecrets({ watch }: SecretWatch, { told }: SecretDue, note: SentAnswer): SecretWatch {
  return { watch: sent(watch, { version: note.version, segments: [], parts: [] }, note, []), told, isOwed: false };
}
