import { fieldsOf, stringsOf, textOf } from "../../base/untyped.ts";
import type { ParsedObject } from "../documents/parse.ts";
import { keyPairProblem, rootProblemOf, someNames } from "../values/pem.ts";

/** Annotations that stay of a Secret whose values are left out: what is wrong with its key pair, and with its certificates to check others against; "" for nothing. */
export const keyPairFact = "internal.portolan.dev/key-pair-problem";
export const rootFact = "internal.portolan.dev/root-problem";

/**
 * What can be said of a Secret without giving anything of it away.
 *
 * @returns nothing for one of which only the name was read
 */
export function secretFacts(secret: ParsedObject): Readonly<Record<string, string>> {
  const written = fieldsOf(secret.metadata.annotations);
  if (typeof written[keyPairFact] === "string") {
    // Its values were left out before.
    return { [keyPairFact]: written[keyPairFact], [rootFact]: textOf(written[rootFact]) };
  }
  const values = { ...decoded(stringsOf(secret.data)), ...stringsOf(secret.stringData) };
  if (Object.keys(values).length === 0) return {};
  return { [keyPairFact]: pairProblemOf(values), [rootFact]: rootProblemOf(values) };
}

function decoded(data: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, Buffer.from(value, "base64").toString("latin1")]),
  );
}

/** Names under which Secrets hold a certificate and its key, the first of them first. */
const pairs = [
  ["cert", "key"],
  ["tls.crt", "tls.key"],
] as const;

/** @see istio 1.30.3 pilot/pkg/credentials/kube/secrets.go, ExtractCertInfo */
function pairProblemOf(values: Readonly<Record<string, string>>): string {
  for (const [certificate, key] of pairs) {
    const [first = "", second = ""] = [values[certificate], values[key]];
    if (first === "" || second === "") continue;
    const found = keyPairProblem(first, second);
    return found === "" ? "" : `the certificate is malformed: ${found}`;
  }
  for (const [certificate, key] of pairs) {
    if (values[certificate] === undefined || values[key] === undefined) continue;
    return `found keys "${certificate}" and "${key}", but they were empty`;
  }
  return `found secret, but didn't have expected keys (cert and key) or (tls.crt and tls.key); found: ${someNames(values)}`;
}
