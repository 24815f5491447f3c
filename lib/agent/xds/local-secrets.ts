import { hashOf } from "../../base/blob.ts";
import { wireVersion } from "../../snapshot/parts-version.ts";
import { namesIn } from "../../streams/name-map.ts";
import { secretBinary } from "../../streams/secret-binary.ts";
import { afterSent, type SecretDue, type SecretWatch, sentOf } from "../../streams/secret-watch.ts";

/** SDS resources in their binary form, by name. */
export type LocalSecrets = ReadonlyMap<string, { readonly version: string; readonly value: Uint8Array }>;

export const localSecrets = (resources: ReadonlyMap<string, object>): LocalSecrets =>
  new Map(
    [...resources].map(([name, resource]) => {
      const value = secretBinary(resource);
      return [name, { version: wireVersion(hashOf(value)), value }];
    }),
  );

/** What a stream lacks of secrets. */
export function dueSecrets(before: SecretWatch, secrets: LocalSecrets): SecretDue {
  const { names } = before.watch;
  const wanted = names === "all" ? [] : namesIn(names);
  const sent = new Map(wanted.flatMap((name) => sentOf(before, name)));
  const now = new Map(wanted.map((name) => [name, secrets.get(name)?.version ?? ""]));
  const isOther = (name: string) => sent.get(name) !== now.get(name);
  const changed = wanted.flatMap((name) => {
    const secret = secrets.get(name);
    return secret === undefined || !isOther(name) ? [] : [{ name, ...secret }];
  });
  const missing = wanted.filter((name) => !secrets.has(name) && isOther(name));
  return {
    isAnswer: before.isOwed || changed.length > 0 || missing.length > 0,
    changed,
    missing,
    version: wireVersion(hashOf([...now].map((pair) => pair.join()).join(";"))),
    after: afterSent(before, now),
  };
}
