import type {
  HeaderMatcherJson,
  QueryParameterMatcherJson,
} from "../../gen/envoy/config/route/v3/route_components_pb.ts";
import {
  about,
  type Mismatch,
  mismatch,
  quoted,
  type ReadRegex,
  regexMismatch,
  stringMismatch,
} from "./string-match.ts";

/**
 * Why a header does not match; undefined where it does. A header that is not there matches nothing but its own absence, not even what
 * is inverted.
 *
 * @param headers by name in lower case, `:method`, `:authority`, `:path` and `:scheme` among them
 * @see envoy 1.40.0 source/common/http/header_utility.h, HeaderDataBaseImpl
 */
export function headerMismatch(
  matcher: HeaderMatcherJson,
  headers: ReadonlyMap<string, string>,
  readRegex: ReadRegex,
): Mismatch | undefined {
  const { name = "", invertMatch = false, treatMissingHeaderAsEmpty = false } = matcher;
  const there = headers.get(name.toLowerCase());
  if (isAboutPresence(matcher)) {
    const isThere = there !== undefined || treatMissingHeaderAsEmpty;
    const wanted = (matcher.presentMatch ?? true) !== invertMatch;
    return isThere === wanted ? undefined : mismatch(`header ${name} is ${isThere ? "there" : "missing"}`);
  }
  if (there === undefined && !treatMissingHeaderAsEmpty) return mismatch(`header ${name} is missing`);
  const value = there ?? "";
  const found = valueMismatch(matcher, value, readRegex);
  if (!invertMatch || found?.isCertain === false) return about(`header ${name}`, found);
  return found === undefined ? mismatch(`header ${name} is ${quoted(value)}, which is ruled out`) : undefined;
}

/** A matcher that says nothing but the name is about presence, too. */
function isAboutPresence({ presentMatch, ...matcher }: HeaderMatcherJson): boolean {
  const { exactMatch, safeRegexMatch, rangeMatch, prefixMatch, suffixMatch, containsMatch, stringMatch } = matcher;
  const values = [exactMatch, safeRegexMatch, rangeMatch, prefixMatch, suffixMatch, containsMatch, stringMatch];
  return presentMatch !== undefined || values.every((value) => value === undefined);
}

function valueMismatch(matcher: HeaderMatcherJson, value: string, readRegex: ReadRegex): Mismatch | undefined {
  const { exactMatch, safeRegexMatch, rangeMatch, prefixMatch, suffixMatch, containsMatch, stringMatch } = matcher;
  if (stringMatch !== undefined) return stringMismatch(stringMatch, value, readRegex);
  if (safeRegexMatch !== undefined) return regexMismatch(safeRegexMatch.regex ?? "", value, readRegex);
  if (rangeMatch !== undefined) {
    const [start, end] = [Number(rangeMatch.start ?? 0), Number(rangeMatch.end ?? 0)];
    const isIn = /^-?\d+$/.test(value) && Number(value) >= start && Number(value) < end;
    return isIn ? undefined : mismatch(`is not from ${start} to below ${end}`);
  }
  const plain = [
    exactMatch === undefined ? {} : { exact: exactMatch },
    prefixMatch === undefined ? {} : { prefix: prefixMatch },
    suffixMatch === undefined ? {} : { suffix: suffixMatch },
    containsMatch === undefined ? {} : { contains: containsMatch },
  ];
  return stringMismatch(Object.assign({}, ...plain), value, readRegex);
}

/** The same for a parameter of the query, of which the first of a name counts, as it is written. */
export function parameterMismatch(
  { name = "", stringMatch, presentMatch }: QueryParameterMatcherJson,
  query: ReadonlyMap<string, string>,
  readRegex: ReadRegex,
): Mismatch | undefined {
  const value = query.get(name);
  if (presentMatch === false) return value === undefined ? undefined : mismatch(`parameter ${name} is there`);
  if (value === undefined) return mismatch(`parameter ${name} is missing`);
  return stringMatch && about(`parameter ${name}`, stringMismatch(stringMatch, value, readRegex));
}

/** Parameters of a path by name, the first of each. */
export function queryOf(path: string): ReadonlyMap<string, string> {
  const query = new Map<string, string>();
  const at = path.indexOf("?");
  if (at === -1) return query;
  const [text = ""] = path.slice(at + 1).split("#", 1);
  for (const pair of text.split("&")) {
    const equals = pair.indexOf("=");
    const name = equals === -1 ? pair : pair.slice(0, equals);
    if (!query.has(name)) query.set(name, equals === -1 ? "" : pair.slice(equals + 1));
  }
  return query;
}
