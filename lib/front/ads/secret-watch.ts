import type { Front } from "../front.ts";
import type { SecretsOfClass } from "../secrets/secret-answer.ts";
import { secretBinary } from "../secrets/secret-binary.ts";
import { type SecretReader, secretChanges, secretsVersion } from "../secrets/secret-changes.ts";
import { secretTtlMs } from "../secrets/secrets.ts";
import type { StreamKind } from "./due.ts";
import {
  changedMap,
  changedSet,
  entriesIn,
  type NameMap,
  type NameSet,
  namesIn,
  noNames,
  valueOf,
} from "./name-map.ts";
import { type Asked, type SentAnswer, sent, type Watch } from "./watch.ts";

/** The secrets of a stream. They lie in no tree, so what was told of each is remembered by its name. */
export interface SecretWatch {
  readonly watch: Watch;
  /** Versions of what its reader has, by name. */
  readonly has: NameMap<string>;
  /** Names that its reader was told to be missing: there is no such secret, or not for this reader. */
  readonly lacks: NameSet;
  /** Names that its reader has asked for since the last answer. They are looked up again, whatever was told of them. */
  readonly asked: NameSet;
  /** Whether its reader waits for an answer, whatever there is. */
  readonly isOwed: boolean;
  /** When all of its secrets were last looked up, and of what class; `undefined` before the first time. */
  readonly looked: { readonly atMs: number; readonly secrets: SecretsOfClass } | undefined;
}

const noSecrets = { has: noNames, lacks: noNames, asked: noNames, isOwed: false, looked: undefined };

/** What a request comes to, by what it comes to for any other type. Its work follows the request, not what was asked before. */
export function askedSecrets(
  before: SecretWatch | undefined,
  { watch, dropped }: Pick<Asked, "watch" | "dropped">,
): SecretWatch {
  const known = before ?? noSecrets;
  const { owed } = watch;
  const next = { ...known, watch: { ...watch, owed: { kind: "nothing" } } } as const;
  switch (owed.kind) {
    case "all": {
      const names = watch.names === "all" ? noNames : watch.names;
      const wanted = [...owed.known].filter(([name]) => valueOf(names, name) !== undefined);
      // Who says what he has waits for what differs, and for nothing else.
      const isOwed = known.isOwed || owed.known.size === 0;
      return { ...next, has: changedMap(noNames, wanted), lacks: noNames, asked: names, isOwed };
    }
    case "names": {
      const names = namesIn(owed.names);
      const left = [...names, ...dropped];
      const asked = changedSet(known.asked, names, dropped);
      return { ...next, ...without(known, left), asked, isOwed: true };
    }
    case "nothing":
      return { ...next, ...without(known, dropped), asked: changedSet(known.asked, [], dropped) };
  }
}

const without = ({ has, lacks }: Pick<SecretWatch, "has" | "lacks">, names: readonly string[]) => ({
  has: changedMap(has, [], names),
  lacks: changedSet(lacks, [], names),
});

/** One answer about secrets. */
export interface SecretDue {
  readonly isAnswer: boolean;
  readonly changed: readonly { readonly name: string; readonly version: string; readonly value: Uint8Array }[];
  /** Names that there is nothing for. */
  readonly missing: readonly string[];
  /** Of all that its reader has then. */
  readonly version: string;
  /** What is known of the reader once it has the answer, but for the answer itself. */
  readonly after: SecretWatch;
}

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
  front: Pick<Front, "secrets">,
  { kind, nowMs, ...reader }: SecretReader & { readonly kind: StreamKind; readonly nowMs: number },
  before: SecretWatch,
): Promise<SecretDue | undefined> {
  const isDue = isLookDue(before, reader.secrets, nowMs);
  const names = namesIn(isDue ? changedSet(before.asked, knownNames(before, reader.secrets)) : before.asked);
  if (names.length === 0 && !isDue && !before.isOwed) return undefined;
  const told = new Map(names.flatMap((name) => toldOf(before, name)));
  const { changed, missing, told: now } = await secretChanges(front, reader, names, told);
  const found = [...now].filter(([, version]) => version !== "");
  const lost = [...now].filter(([, version]) => version === "").map(([name]) => name);
  const has = changedMap(before.has, found, lost);
  const lacks = changedSet(
    before.lacks,
    lost,
    found.map(([name]) => name),
  );
  const looked = isDue ? { atMs: nowMs, secrets: reader.secrets } : before.looked;
  return {
    // Of the state of the world, what is not in an answer says nothing.
    isAnswer: before.isOwed || changed.length > 0 || (kind === "delta" && missing.length > 0),
    changed: changed.map(({ name, version, resource }) => ({ name, version, value: secretBinary(resource) })),
    missing: missing.map(({ name }) => name),
    version: secretsVersion(entriesIn(has)),
    after: { watch: before.watch, has, lacks, asked: noNames, isOwed: false, looked },
  };
}

/** A look that a timer asks for may come a little early, and requests that come all the time must not put it off. */
const isLookDue = ({ looked }: SecretWatch, { named, grants }: SecretsOfClass, nowMs: number): boolean =>
  looked === undefined ||
  looked.secrets.named !== named ||
  looked.secrets.grants !== grants ||
  nowMs - looked.atMs >= secretTtlMs / 2;

/** The wanted names that a look may find something new of: those that the class names, and those that the reader has. */
function knownNames({ watch: { names }, has }: SecretWatch, { named }: SecretsOfClass): readonly string[] {
  if (names === "all") return [];
  return [...namesIn(has), ...named.filter((name) => valueOf(names, name) !== undefined)];
}

function toldOf({ has, lacks }: SecretWatch, name: string): readonly (readonly [string, string])[] {
  const version = valueOf(has, name);
  if (version !== undefined) return [[name, version]];
  return valueOf(lacks, name) === undefined ? [] : [[name, ""]];
}

/** What is known of the reader once it has the answer. */
export function toldSecrets({ version, after }: SecretDue, note: SentAnswer): SecretWatch {
  return { ...after, watch: sent(after.watch, { version, segments: [], parts: [] }, note, noNames) };
}
