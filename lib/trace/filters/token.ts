import type { JwtProviderJson } from "../../../gen/envoy/extensions/filters/http/jwt_authn/v3/config_pb.ts";
import { byCodePoint } from "../../base/diagnostic.ts";
import { unreachableKeys } from "../../base/unreachable-keys.ts";
import { fieldsOf, jsonIn } from "../../base/untyped.ts";
import { queryOf } from "../header-match.ts";
import { quoted, type ReadRegex, stringMismatch } from "../string-match.ts";

/** What a token says. */
export type Claims = Readonly<Record<string, unknown>>;

/** A token of a request, where a provider looks for one. */
export interface Token {
  /** As it is written. */
  readonly text: string;
  /** The header that it stands in, which Envoy takes away. */
  readonly header?: string;
  /** The same of a parameter of the query. */
  readonly parameter?: string;
}

/** Why a token is refused, with the answer's status. */
export interface TokenProblem {
  readonly why: string;
  readonly status: 401 | 403;
  /** Whether it is only that the token is another issuer's. */
  readonly isOfAnother: boolean;
}

/** Where a token may stand. */
export interface TokenPlace {
  /** Places of one key are one. */
  readonly key: string;
  /** In lower case, with what stands in front of the token there. */
  readonly header?: { readonly name: string; readonly prefix: string };
  readonly parameter?: string;
  readonly cookie?: string;
}

/**
 * Where a provider looks for tokens, in Envoy's order.
 *
 * @see envoy 1.40.0 source/extensions/filters/http/jwt_authn/extractor.cc
 */
export function placesOf({
  fromHeaders = [],
  fromParams = [],
  fromCookies = [],
}: JwtProviderJson): readonly TokenPlace[] {
  const isDefault = fromHeaders.length + fromParams.length + fromCookies.length === 0;
  const headers = isDefault ? [{ name: "authorization", valuePrefix: "Bearer " }] : fromHeaders;
  const parameters = isDefault ? ["access_token"] : fromParams;
  const places: readonly TokenPlace[] = [
    ...headers.map(({ name = "", valuePrefix = "" }) => {
      const header = { name: name.toLowerCase(), prefix: valuePrefix };
      return { key: `1 ${header.name}${valuePrefix}`, header };
    }),
    ...parameters.map((parameter) => ({ key: `2 ${parameter}`, parameter })),
    ...fromCookies.map((cookie) => ({ key: `3 ${cookie}`, cookie })),
  ];
  return [...new Map(places.map((one) => [one.key, one])).values()].sort((a, b) => byCodePoint(a.key, b.key));
}

/** The token in a place; undefined where there is none. */
export function tokenAt(place: TokenPlace, headers: ReadonlyMap<string, string>): Token | undefined {
  const { header, parameter, cookie = "" } = place;
  if (header !== undefined) {
    const { name, prefix } = header;
    const value = headers.get(name);
    const at = value?.indexOf(prefix) ?? -1;
    if (value === undefined || at === -1) return undefined;
    const after = value.slice(at + prefix.length);
    const start = prefix === "" ? 0 : after.search(/[A-Za-z0-9._-]/);
    return { text: start === -1 ? value : after.slice(start), header: name };
  }
  if (parameter !== undefined) {
    const text = queryOf(headers.get(":path") ?? "").get(parameter);
    return text === undefined ? undefined : { text, parameter };
  }
  const text = cookiesIn(headers.get("cookie") ?? "").get(cookie);
  return text === undefined ? undefined : { text };
}

/** Stands for a good token that says something, in every place where these providers look; in headers where they look there. */
export function withToken(
  headers: ReadonlyMap<string, string>,
  providers: readonly JwtProviderJson[],
  text: string,
): Map<string, string> {
  const carrying = new Map(headers);
  const append = (name: string, more: string, by: string) => {
    const before = carrying.get(name) ?? "";
    carrying.set(name, before === "" ? more : before + by + more);
  };
  for (const provider of providers) {
    const places = placesOf(provider);
    const inHeaders = places.filter(({ header }) => header !== undefined);
    for (const { header, parameter, cookie } of inHeaders.length > 0 ? inHeaders : places) {
      if (header !== undefined) carrying.set(header.name, header.prefix + text);
      if (parameter !== undefined)
        append(":path", `${parameter}=${text}`, carrying.get(":path")?.includes("?") === true ? "&" : "?");
      if (cookie !== undefined) append("cookie", `${cookie}=${text}`, "; ");
    }
  }
  return carrying;
}

/** The text of a token of which only the claims count. */
export function tokenOf(claims: Claims): string {
  const part = (value: object): string => {
    const bytes = new TextEncoder().encode(JSON.stringify(value));
    const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
    return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  };
  return `${part({ alg: "RS256" })}.${part(claims)}.given`;
}

function cookiesIn(header: string): ReadonlyMap<string, string> {
  const pairs = header.split(";").flatMap((pair): readonly (readonly [string, string])[] => {
    const at = pair.indexOf("=");
    const [name, value] = [pair.slice(0, Math.max(at, 0)).trimStart(), pair.slice(at + 1).trim()];
    return name === "" ? [] : [[name, value.replace(/^"(.*)"$/s, "$1")]];
  });
  // The first of a name counts.
  return new Map(pairs.toReversed());
}

/** Of the text of a token; undefined for what is none, which Envoy refuses. */
export function claimsIn(text: string): Claims | undefined {
  const [header, payload, signature, ...more] = text.split(".");
  if (more.length > 0 || !signature || !/^[A-Za-z0-9_-]+$/.test(signature)) return undefined;
  const [head, claims] = [objectIn(header), objectIn(payload)];
  const isSigned = /^(?:ES256|ES384|ES512|HS256|HS384|HS512|RS256|RS384|RS512|PS256|PS384|PS512|EdDSA)$/.test(
    String(head?.alg),
  );
  return isSigned ? claims : undefined;
}

/**
 * Why none of a provider's keys can have signed a token; undefined where one may have. Envoy passes over keys of another id. Keys that it
 * fetches itself are not known.
 */
export function keysProblem({ issuer = "", localJwks }: JwtProviderJson, text: string): TokenProblem | undefined {
  const written = localJwks?.inlineString;
  if (written === undefined) return undefined;
  const refused = (why: string): TokenProblem => ({ why, status: 401, isOfAnother: false });
  if (written === unreachableKeys)
    return refused(`the keys of ${quoted(issuer)} were never read, so every token of it is refused`);
  const id = objectIn(text.split(".", 1)[0])?.kid;
  const { keys } = fieldsOf(jsonIn(written));
  if (typeof id !== "string" || id === "" || !Array.isArray(keys)) return undefined;
  const isOther = (key: unknown): boolean => {
    const { kid } = fieldsOf(key);
    return typeof kid === "string" && kid !== "" && kid !== id;
  };
  return keys.every(isOther)
    ? refused(`the token is signed with the key ${quoted(id)}, which is not among those of ${quoted(issuer)}`)
    : undefined;
}

function objectIn(part = ""): Claims | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(part)) return undefined;
  try {
    const binary = atob(part.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? Object(value) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Why a provider refuses claims; undefined where it takes them, if the signature and the times are good.
 *
 * @param audiences those of the requirement in place of the provider's
 * @see envoy 1.40.0 source/extensions/filters/http/jwt_authn/authenticator.cc
 */
export function claimsProblem(
  { issuer = "", audiences: own = [], subjects }: JwtProviderJson,
  claims: Claims,
  audiences: readonly string[],
  readRegex: ReadRegex,
): TokenProblem | undefined {
  const refused = (why: string, status: 401 | 403 = 401): TokenProblem => ({ why, status, isOfAnother: false });
  if (issuer !== "" && claims.iss !== issuer) {
    const why = `the token is of the issuer ${quoted(String(claims.iss ?? ""))}, not ${quoted(issuer)}`;
    return { why, status: 401, isOfAnother: true };
  }
  if (subjects !== undefined) {
    const found = stringMismatch(subjects, String(claims.sub ?? ""), readRegex);
    if (found !== undefined) return refused(`the token's subject ${found.why}`);
  }
  const wanted = audiences.length > 0 ? audiences : own;
  const listed: readonly unknown[] = Array.isArray(claims.aud) ? claims.aud : [claims.aud ?? ""];
  const has = new Set(listed.map((one) => plainAudience(String(one))));
  if (wanted.length === 0 || wanted.some((one) => has.has(plainAudience(one)))) return undefined;
  return refused(`the token is for none of ${wanted.slice(0, 3).map(quoted).join(", ")}`, 403);
}

/** Envoy compares audiences without a scheme and without a slash at the end. */
const plainAudience = (text: string): string => text.replace(/^https?:\/\//, "").replace(/\/$/, "");

/** A token's time of expiry in words; undefined where it has none. */
export function expiryOf({ exp }: Claims): string | undefined {
  if (typeof exp !== "number" || Math.abs(exp) > 8e12) return undefined;
  return new Date(exp * 1000).toISOString();
}
