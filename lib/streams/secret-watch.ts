import { changedMap, changedSet, type NameMap, type NameSet, namesIn, noNames, valueOf } from "./name-map.ts";
import { type Asked, type SentAnswer, sent, type Watch } from "./watch.ts";

/** What says which secrets a reader may have; compared by identity. A server that has all of its secrets in memory needs none. */
export interface LookedUp {
  readonly named: readonly string[];
  readonly grants: object;
  /** Names what a root has of certificates that are no secret. */
  readonly bundles: string | undefined;
}

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
  /** When all of its secrets were last looked up, and among what; `undefined` before the first time. */
  readonly looked: { readonly atMs: number; readonly secrets: LookedUp } | undefined;
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

/** What was told of a name: a version, "" for what is missing, nothing for what was never told. */
export function sentOf({ has, lacks }: SecretWatch, name: string): readonly (readonly [string, string])[] {
  const version = valueOf(has, name);
  if (version !== undefined) return [[name, version]];
  return valueOf(lacks, name) === undefined ? [] : [[name, ""]];
}

/** What is known of a reader once it is told these versions, "" for what is missing. */
export function afterSent(before: SecretWatch, sent: ReadonlyMap<string, string>): SecretWatch {
  const found = [...sent].filter(([, version]) => version !== "");
  const lost = [...sent].filter(([, version]) => version === "").map(([name]) => name);
  const has = changedMap(before.has, found, lost);
  const lacks = changedSet(
    before.lacks,
    lost,
    found.map(([name]) => name),
  );
  return { ...before, has, lacks, asked: noNames, isOwed: false };
}

/** What is known of the reader once it has the answer. */
export function sentSecrets({ version, after }: SecretDue, note: SentAnswer): SecretWatch {
  return { ...after, watch: sent(after.watch, { version, segments: [], parts: [] }, note, noNames) };
}
