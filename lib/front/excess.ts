import type { NodeClaims } from "../base/classifier.ts";
import type { Limits } from "../limits/limits.ts";
import { isWithin } from "../snapshot/free-text.ts";

export function isName(value: unknown, { nameBytes }: Limits): value is string {
  return typeof value === "string" && isWithin(value, nameBytes);
}

/** A list of names without repetitions, in the order in which they come first. */
export function distinctNames(
  field: string,
  value: unknown,
  limits: Limits,
): { readonly names: readonly string[] } | { readonly problem: string } {
  const problem = (what: string) => ({ problem: `${field} ${what}` });
  if (!Array.isArray(value)) return problem("is not a list of texts");
  const names = new Set<string>();
  for (const name of value) {
    if (!isName(name, limits)) return problem(`is not a list of texts of at most ${limits.nameBytes} bytes`);
    names.add(name);
    if (names.size > limits.names) return problem(`has more than ${limits.names} different names`);
  }
  return { names: [...names] };
}

/**
 * What is too much in what a request says of its node.
 *
 * @param bytes size of all that the claims were read from; only if that is much are they measured themselves
 */
export function excessOfNode(claims: NodeClaims, bytes: number, limits: Limits): string | undefined {
  if (!isWithin(claims.id, limits.idBytes)) return `node.id has more than ${limits.idBytes} bytes`;
  if (!isWithin(claims.cluster, limits.idBytes)) return `node.cluster has more than ${limits.idBytes} bytes`;
  if (bytes * 3 <= limits.nodeBytes || isWithin(JSON.stringify(claims), limits.nodeBytes)) return undefined;
  return `node has more than ${limits.nodeBytes} bytes beside its extensions`;
}

/** The beginning of a text, as a text of its own: a part of one keeps all of it in memory. */
export function beginningOf(text: string, maxLength: number): string {
  return JSON.parse(JSON.stringify(text.slice(0, maxLength)));
}

const shownLength = 200;

/** What was sent, as an error message repeats it: not more of it than tells what is meant. */
export function shown(text: string): string {
  return text.length <= shownLength ? text : `${text.slice(0, shownLength)}…`;
}
