/**
 * Matchers on dynamic metadata: token claims that the JWT filter leaves behind, and what other filters wrote.
 * @see docs/how-istio-does-it/security.md#rules-and-parts
 */
import type { MetadataMatcherJson } from "../../../gen/envoy/type/matcher/v3/metadata_pb.ts";
import type { StringMatcherJson } from "../../../gen/envoy/type/matcher/v3/string_pb.ts";
import type { ValueMatcherJson } from "../../../gen/envoy/type/matcher/v3/value_pb.ts";
import { textMatch } from "./string-match.ts";

export const jwtFilter = "envoy.filters.http.jwt_authn";
/** Key under which the JWT filter stores the token's claims; one for all providers, so that policies need not name one. */
export const jwtPayload = "payload";

/** A claim that is one text: `iss`, `sub`. */
export function claimMatch(claim: string, match: StringMatcherJson): MetadataMatcherJson {
  return metadataMatch(jwtFilter, [jwtPayload, claim], { stringMatch: match });
}

/** A claim that is a text or a list of texts, one of which must match one of the values. */
export function listClaimMatch(claims: readonly string[], values: readonly string[]): MetadataMatcherJson {
  const value = anyOf(values.map((text) => ({ stringMatch: textMatch(text) })));
  return metadataMatch(jwtFilter, [jwtPayload, ...claims], {
    orMatch: { valueMatchers: [{ listMatch: { oneOf: value } }, value] },
  });
}

/** What another filter wrote under a key; a value in brackets, `[v]`, must be in a list. */
export function filterMetadataMatch(filter: string, key: string, values: readonly string[]): MetadataMatcherJson {
  const matchers = values.map((value): ValueMatcherJson => {
    if (!value.startsWith("[") || !value.endsWith("]")) return { stringMatch: textMatch(value) };
    const inner = value.replaceAll(/^[[\]]+|(?<![[\]])[[\]]+$/g, "");
    return { listMatch: { oneOf: { stringMatch: textMatch(inner) } } };
  });
  return metadataMatch(filter, [key], anyOf(matchers));
}

function metadataMatch(filter: string, path: readonly string[], value: ValueMatcherJson): MetadataMatcherJson {
  return { filter, path: path.map((key) => ({ key })), value };
}

function anyOf(matchers: ValueMatcherJson[]): ValueMatcherJson {
  const [only, ...others] = matchers;
  return only !== undefined && others.length === 0 ? only : { orMatch: { valueMatchers: matchers } };
}
