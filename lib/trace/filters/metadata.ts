import type { MetadataMatcherJson } from "../../../gen/envoy/type/matcher/v3/metadata_pb.ts";
import type { ValueMatcherJson } from "../../../gen/envoy/type/matcher/v3/value_pb.ts";
import { quoted, type ReadRegex, stringMismatch } from "../string-match.ts";
import { depends, no, some, type Truth, truthOf, yes } from "./truth.ts";
import { maxDepth, tooMuch, type Work } from "./work.ts";

/** One value that a filter leaves. */
export type Left =
  | { readonly kind: "known"; readonly value: unknown }
  | { readonly kind: "depends"; readonly on: readonly string[] };

/** What filters leave for those behind them: values by key, by the name that the filter uses. */
export type Metadata = ReadonlyMap<string, ReadonlyMap<string, Left>>;

export const jwtNamespace = "envoy.filters.http.jwt_authn";
export const rbacNamespaces = { http: "envoy.filters.http.rbac", network: "envoy.filters.network.rbac" } as const;
/** Those that are followed here; what others leave is not known. */
const followed: ReadonlySet<string> = new Set([jwtNamespace, ...Object.values(rbacNamespaces)]);

/** With more values under a name; those of the same key are replaced. */
export function withMetadata(metadata: Metadata, name: string, values: ReadonlyMap<string, Left>): Metadata {
  return new Map([...metadata, [name, new Map([...(metadata.get(name) ?? []), ...values])]]);
}

/** What a value is matched with. */
export interface ValueContext {
  readonly readRegex: ReadRegex;
  readonly work: Work;
}

/** @see envoy 1.40.0 source/common/common/matchers.cc, MetadataMatcher */
export function metadataTruth(matcher: MetadataMatcherJson, metadata: Metadata, context: ValueContext): Truth {
  const { filter = "", path = [], value = {}, invert = false } = matcher;
  const keys = path.map(({ key = "" }) => key);
  const text = `metadata ${keys.join(".")} of ${filter}`;
  if (!followed.has(filter)) return depends(text);
  const [first = "", ...rest] = keys;
  const left = metadata.get(filter)?.get(first);
  if (left?.kind === "depends") return depends(...left.on);
  const found = rest.reduce<unknown>(memberOf, left?.value);
  const truth = valueTruth(value, found, subjectOf(filter, keys), context, 0);
  if (!invert || truth.is === "depends") return truth;
  return truth.is === "no" ? yes(truth.why) : no(`${subjectOf(filter, keys)} is excluded`);
}

/** Claims are what people know; the rest has Envoy's words. */
function subjectOf(filter: string, keys: readonly string[]): string {
  if (filter !== jwtNamespace) return `metadata ${keys.join(".")} of ${filter}`;
  return `claim ${keys.slice(1).join(".")}`;
}

/** Of an object, never of its prototype; undefined for what is none. */
export function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}

function valueTruth(
  matcher: ValueMatcherJson,
  value: unknown,
  subject: string,
  context: ValueContext,
  depth: number,
): Truth {
  if (depth > maxDepth || !context.work.spend()) return depends(tooMuch);
  const { stringMatch, boolMatch, presentMatch, nullMatch, doubleMatch, listMatch, orMatch } = matcher;
  const inner = (one: ValueMatcherJson, of: unknown) => valueTruth(one, of, subject, context, depth + 1);
  if (orMatch !== undefined) return some((orMatch.valueMatchers ?? []).map((one) => inner(one, value)));
  if (presentMatch !== undefined) {
    const isThere = value !== undefined;
    const words = `${subject} is ${isThere ? "there" : "missing"}`;
    return isThere === presentMatch ? yes(words) : no(words);
  }
  if (value === undefined) return no(`${subject} is missing`);
  if (listMatch?.oneOf !== undefined) {
    const { oneOf } = listMatch;
    return Array.isArray(value) ? some(value.map((one) => inner(oneOf, one))) : no(`${subject} is no list`);
  }
  if (stringMatch !== undefined) {
    if (typeof value !== "string") return no(`${subject} is no text`);
    const found = stringMismatch(stringMatch, value, context.readRegex);
    const words = found && { ...found, why: `${subject} ${found.why}` };
    return truthOf(words, `${subject} ${quoted(value)}`);
  }
  if (boolMatch !== undefined) return value === boolMatch ? yes(subject) : no(`${subject} is not ${boolMatch}`);
  if (nullMatch !== undefined) return value === null ? yes(subject) : no(`${subject} is not null`);
  if (doubleMatch !== undefined) {
    const { exact, range } = doubleMatch;
    if (typeof value !== "number") return no(`${subject} is no number`);
    const [start, end] = [Number(range?.start ?? 0), Number(range?.end ?? 0)];
    const fits = exact === undefined ? value >= start && value < end : value === Number(exact);
    return fits ? yes(subject) : no(`${subject} ${value} is not in its range`);
  }
  return no(`${subject} is matched by nothing`);
}
