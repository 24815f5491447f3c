import { hashOf } from "../../base/blob.ts";
import { wireVersion } from "../../snapshot/parts-version.ts";
import type { Caller } from "../auth/caller.ts";
import type { Refused } from "../polls/outcome.ts";
import { type SecretSources, type SecretsOfClass, secretFor } from "./secret-answer.ts";

/** Who wants secrets, and what root and caller let it have. */
export interface SecretReader {
  readonly caller: Caller;
  readonly secrets: SecretsOfClass;
}

/** What tells a reader's secrets from those there are. */
export interface SecretChanges {
  readonly changed: readonly { readonly name: string; readonly version: string; readonly resource: object }[];
  /** What there is not, or not for this reader, and that it was not told so of. */
  readonly missing: readonly { readonly name: string; readonly why: Refused }[];
  /** What cannot be opened now: its reader keeps what it has. */
  readonly closed: readonly Refused[];
  /** What its reader has then, by name. */
  readonly sent: ReadonlyMap<string, string>;
}

/** In the place of a version: there is nothing, or nothing for this reader. */
const isMissing = "";

/** Compares secrets with what a reader has, by the rules of polls for each of them. @param names sorted */
export async function secretChanges(
  front: SecretSources,
  { caller, secrets }: SecretReader,
  names: readonly string[],
  before: ReadonlyMap<string, string>,
): Promise<SecretChanges> {
  const sent = new Map(before);
  const changed: SecretChanges["changed"][number][] = [];
  const missing: SecretChanges["missing"][number][] = [];
  const closed: Refused[] = [];
  for (const name of names) {
    const found = await secretFor(front, caller, secrets, name);
    if (found.kind === "refused" && found.status === 503) {
      closed.push(found);
      continue;
    }
    const version = found.kind === "refused" ? isMissing : wireVersion(hashOf(JSON.stringify(found.resource)));
    sent.set(name, version);
    if (before.get(name) === version) continue;
    if (found.kind === "refused") missing.push({ name, why: found });
    else changed.push({ name, version, resource: found.resource });
  }
  return { changed, missing, closed, sent };
}

/** Of all that a reader has. */
export const secretsVersion = (sent: Iterable<readonly [string, string]>): string =>
  wireVersion(hashOf([...sent].join("\n")));
