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
  const wanted = new Set(secretNames(watch));
  const again = new Set(owed.kind === "names" ? owed.names : []);
  const told = owed.kind === "all" ? owed.known : (before?.told ?? new Map<string, string>());
  return {
    watch: { ...watch, owed: { kind: "nothing" } },
    told: new Map([...told].filter(([name]) => wanted.has(name) && !again.has(name))),
    // Who says what he has waits for what differs, and for nothing else.
    isOwed: before?.isOwed === true || owed.kind === "names" || (owed.kind === "all" && owed.known.size === 0),
  };
}

/** Names of the secrets that a reader wants: there is no asking for all. */
export const secretNames = ({ names }: Watch): readonly string[] => (names === "all" ? [] : names);

/** One answer about secrets. */
export interface SecretDue {
  readonly changed: readonly { readonly name: string; readonly version: string; readonly value: Uint8Array }[];
  /** Names that there is nothing for. */
  readonly missing: readonly string[];
  /** Of all that its reader has then. */
  readonly version: string;
  readonly told: SecretWatch["told"];
}

/** What is known of a reader once it has the answer. */
export function toldSecrets({ watch }: SecretWatch, { told }: SecretDue, note: SentAnswer): SecretWatch {
  return { watch: sent(watch, { version: note.version, segments: [], parts: [] }, note, []), told, isOwed: false };
}
