/**
 * One field or `when` condition of an AuthorizationPolicy rule, as RBAC permissions (what is asked) or principals
 * (who asks).
 * @see docs/how-istio-does-it/security.md#rules-and-parts
 */
import type { PermissionJson, PrincipalJson } from "../../../gen/envoy/config/rbac/v3/rbac_pb.ts";
import type { StringMatcherJson } from "../../../gen/envoy/type/matcher/v3/string_pb.ts";
import { uriTemplate } from "../../config/rules/security/path-template.ts";
import { cidrRange, packAny } from "../core-messages.ts";
import { claimMatch, filterMetadataMatch, listClaimMatch } from "./metadata-match.ts";
import { anyText, headerMatch, principalMatch, quoteRegex, regexMatch, textMatch } from "./string-match.ts";

/**
 * How the values of one part become matchers: each value gives one and they are ORed, or the whole list gives one.
 * undefined for a value that cannot be expressed.
 */
export type Part<M> = { readonly httpOnly: boolean } & (
  | { readonly each: (value: string) => M | undefined }
  | { readonly list: (values: readonly string[]) => M | undefined }
);

export const hosts: Part<PermissionJson> = {
  httpOnly: true,
  each: (value) => ({ header: headerMatch(":authority", value, true) }),
};

export const methods: Part<PermissionJson> = {
  httpOnly: true,
  each: (value) => ({ header: headerMatch(":method", value) }),
};

export const paths: Part<PermissionJson> = {
  httpOnly: true,
  each: (value) =>
    /\{\*\*?\}/.test(value) ? { uriTemplate: pathTemplate(value) } : { urlPath: { path: textMatch(value) } },
};

export const ports: Part<PermissionJson> = {
  httpOnly: false,
  each: (value) => (/^\d+$/.test(value) && Number(value) <= 65535 ? { destinationPort: Number(value) } : undefined),
};

const destinationIp: Part<PermissionJson> = {
  httpOnly: false,
  each: (value) => mapped(cidrRange(value), (destinationIp) => ({ destinationIp })),
};
const sni: Part<PermissionJson> = { httpOnly: false, each: (value) => ({ requestedServerName: textMatch(value) }) };

export const ipBlocks: Part<PrincipalJson> = {
  httpOnly: false,
  each: (value) => mapped(cidrRange(value), (directRemoteIp) => ({ directRemoteIp })),
};

export const remoteIpBlocks: Part<PrincipalJson> = {
  httpOnly: false,
  each: (value) => mapped(cidrRange(value), (remoteIp) => ({ remoteIp })),
};

export const principals: Part<PrincipalJson> = identity(principalMatch);

export const namespaces: Part<PrincipalJson> = identity((value) =>
  regexMatch(`.*/ns/${value.split("*").map(quoteRegex).join(".*")}/.*`),
);

export const trustDomains: Part<PrincipalJson> = identity((value) => {
  if (value === "*") return { prefix: "spiffe://" };
  if (!value.includes("*")) return { prefix: `spiffe://${value}/` };
  const star = value.indexOf("*");
  return regexMatch(`spiffe://${quoteRegex(value.slice(0, star))}[^/]*${quoteRegex(value.slice(star + 1))}/.*`);
});

/** `account` of the policy's own namespace, or `namespace/account`; no wildcards. */
export function serviceAccounts(policyNamespace: string): Part<PrincipalJson> {
  return identity((value) => {
    const slash = value.indexOf("/");
    const namespace = slash < 0 ? policyNamespace : value.slice(0, slash);
    const account = value.slice(slash + 1);
    return regexMatch(`spiffe://.+/ns/${quoteRegex(namespace)}/(.+/|)sa/${quoteRegex(account)}(/.+)?`);
  });
}

export const requestPrincipals: Part<PrincipalJson> = {
  httpOnly: true,
  list: (values) => {
    const [first, ...others] = values.map(requestPrincipal);
    return first === undefined || others.length === 0 ? first : { orIds: { ids: [first, ...others] } };
  },
};

/** What a `when` key adds to; undefined for an unknown key, which makes the rule invalid. */
export type ConditionPart =
  | { readonly on: "permission"; readonly part: Part<PermissionJson> }
  | {
      readonly on: "principal";
      readonly part: Part<PrincipalJson>;
      readonly identities?: "principals" | "trustDomains";
    };

export function conditionPart(key: string, policyNamespace: string): ConditionPart | undefined {
  switch (key) {
    case "destination.ip":
      return { on: "permission", part: destinationIp };
    case "destination.port":
      return { on: "permission", part: ports };
    case "connection.sni":
      return { on: "permission", part: sni };
    case "source.ip":
      return { on: "principal", part: ipBlocks };
    case "remote.ip":
      return { on: "principal", part: remoteIpBlocks };
    case "source.namespace":
      return { on: "principal", part: namespaces };
    case "source.trustDomain":
      return { on: "principal", part: trustDomains, identities: "trustDomains" };
    case "source.serviceAccount":
      return { on: "principal", part: serviceAccounts(policyNamespace) };
    case "source.principal":
      return { on: "principal", part: principals, identities: "principals" };
    case "request.auth.principal":
      return { on: "principal", part: requestPrincipals };
    case "request.auth.audiences":
      return { on: "principal", part: claims(["aud"]) };
    case "request.auth.presenter":
      return { on: "principal", part: claims(["azp"]) };
    default:
      return keyedCondition(key);
  }
}

/** Conditions whose key names a header, a claim or a filter's metadata in brackets. */
function keyedCondition(key: string): ConditionPart | undefined {
  if (key.startsWith("experimental.envoy.filters.")) {
    const [filter = "", name] = split(key.slice("experimental.".length).replace(/\]$/, ""), "[");
    const list = (values: readonly string[]): PermissionJson | undefined =>
      name === undefined ? undefined : { metadata: filterMetadataMatch(filter, name, values) };
    return { on: "permission", part: { httpOnly: false, list } };
  }
  if (key.startsWith("request.headers")) {
    const header = bracketed(key.slice("request.headers".length));
    const each = (value: string): PrincipalJson | undefined =>
      header === undefined ? undefined : { header: headerMatch(header, value) };
    return { on: "principal", part: { httpOnly: true, each } };
  }
  if (key.startsWith("request.auth.claims")) {
    return { on: "principal", part: claims(nestedBrackets(key.slice("request.auth.claims".length))) };
  }
  return undefined;
}

function claims(path: readonly string[] | undefined): Part<PrincipalJson> {
  const list = (values: readonly string[]): PrincipalJson | undefined =>
    path === undefined ? undefined : { metadata: listClaimMatch(path, values) };
  return { httpOnly: true, list };
}

function identity(match: (value: string) => StringMatcherJson): Part<PrincipalJson> {
  return { httpOnly: false, each: (value) => ({ authenticated: { principalName: match(value) } }) };
}

/** `issuer/subject`, split at the last slash, either part with a wildcard at the outer end. */
function requestPrincipal(value: string): PrincipalJson {
  const slash = value.lastIndexOf("/");
  const issuer = slash < 0 ? value : value.slice(0, slash);
  const subject = slash < 0 ? "" : value.slice(slash + 1);
  const [iss, sub] = issuerAndSubject(value, issuer, subject, slash >= 0);
  return { andIds: { ids: [{ metadata: claimMatch("iss", iss) }, { metadata: claimMatch("sub", sub) }] } };
}

function issuerAndSubject(
  value: string,
  issuer: string,
  subject: string,
  hasSlash: boolean,
): readonly [StringMatcherJson, StringMatcherJson] {
  if (value === "*") return [anyText, anyText];
  if (value.startsWith("*")) {
    if (!hasSlash) return [anyText, { suffix: value.slice(1) }];
    return [issuer === "*" ? anyText : { suffix: issuer.slice(1) }, { exact: subject }];
  }
  if (value.endsWith("*")) {
    if (!hasSlash) return [{ prefix: value.slice(0, -1) }, anyText];
    return [{ exact: issuer }, subject === "*" ? anyText : { prefix: subject.slice(0, -1) }];
  }
  return [{ exact: issuer }, { exact: subject }];
}

/** `{*}` is one segment, `{**}` any number of them. */
function pathTemplate(value: string): NonNullable<PermissionJson["uriTemplate"]> {
  const type = "envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig";
  return { name: "uri-template", typedConfig: packAny(type, { pathTemplate: uriTemplate(value) }) };
}

function bracketed(text: string): string | undefined {
  return text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : undefined;
}

/** `[a][b]` as a path; text of any other form is one name if brackets enclose it. */
function nestedBrackets(text: string): readonly string[] | undefined {
  if (/^(\[[^[\]]*\])+$/.test(text)) return text.slice(1, -1).split("][");
  const name = bracketed(text);
  return name === undefined ? undefined : [name];
}

/** The text before the first separator, and what follows it if there is one. */
function split(text: string, separator: string): readonly string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}

function mapped<A, B>(value: A | undefined, make: (value: A) => B): B | undefined {
  return value === undefined ? undefined : make(value);
}
