import { isFields, textOf } from "../../../base/untyped.ts";
import { error, type Finding, type Path } from "../../finding.ts";
import type { PeerAuthentication } from "../../kinds/peer-authentication.ts";
import type { JWTRule, RequestAuthentication } from "../../kinds/request-authentication.ts";
import { isPortNumber } from "../names.ts";
import { policyTargetRules, selectorRules } from "../selectors.ts";
import { each } from "../values.ts";
import { headerNameRules } from "./authorization-values.ts";
import { keySetRules } from "./inline-secrets.ts";

/** @see docs/how-istio-does-it/kind-rules.md#peerauthentication */
export function* peerAuthenticationRules(spec: PeerAuthentication): Generator<Finding> {
  yield* selectorRules(spec.selector, ["selector"]);
  const { portLevelMtls } = spec;
  if (portLevelMtls === undefined) return;
  if (spec.selector?.matchLabels === undefined) {
    yield error(["portLevelMtls"], "needs a selector with labels", "ports are those of chosen workloads");
  }
  const ports = Object.keys(portLevelMtls);
  if (ports.length === 0) yield error(["portLevelMtls"], "must not be empty", "leave it out", "missing-field");
  for (const port of ports) {
    if (!/^\d+$/.test(port) || !isPortNumber(Number(port))) {
      yield error(["portLevelMtls", port], `${JSON.stringify(port)} is not between 1 and 65535`);
    }
  }
}

const maxJwtRules = 4096;

/** @see docs/how-istio-does-it/kind-rules.md#requestauthentication */
export function* requestAuthenticationRules(spec: RequestAuthentication): Generator<Finding> {
  yield* policyTargetRules(spec);
  if ((spec.jwtRules?.length ?? 0) > maxJwtRules) yield error(["jwtRules"], `has more than ${maxJwtRules} entries`);
  yield* each(spec.jwtRules, ["jwtRules"], jwtRules);
}

function* jwtRules(rule: JWTRule, path: Path): Generator<Finding> {
  if (rule.issuer === undefined && rule.jwksUri === undefined) {
    yield error([...path, "issuer"], "issuer or jwksUri is required", "", "missing-field");
  }
  if (rule.jwks !== undefined && rule.jwksUri !== undefined) {
    yield error([...path, "jwks"], "jwks and jwksUri exclude each other", "keep one of them", "conflicting-fields");
  }
  for (const name of ["audiences", "fromParams", "fromCookies", "spaceDelimitedClaims"] as const) {
    yield* each(rule[name], [...path, name], function* (text, at) {
      if (text === "") yield error(at, "must not be empty");
    });
  }
  if ((rule.spaceDelimitedClaims?.length ?? 0) > 64)
    yield error([...path, "spaceDelimitedClaims"], "has more than 64 entries");
  if (rule.jwksUri !== undefined) yield* jwksUriRules(rule.jwksUri, [...path, "jwksUri"]);
  if (rule.jwks !== undefined) yield* jwksRules(rule.jwks, [...path, "jwks"]);
  yield* each(rule.fromHeaders, [...path, "fromHeaders"], function* (header, at) {
    if (header.name === "") yield error([...at, "name"], "is required", "", "missing-field");
    else yield* headerNameRules(header.name, [...at, "name"]);
  });
  yield* each(rule.outputClaimToHeaders, [...path, "outputClaimToHeaders"], function* ({ header, claim }, at) {
    if (claim === "") yield error([...at, "claim"], "is required", "", "missing-field");
    if (!/^[-_A-Za-z0-9]+$/.test(header))
      yield error([...at, "header"], `${JSON.stringify(header)} is not a header name`);
  });
}

export function* jwksUriRules(uri: string, path: Path): Generator<Finding> {
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):\/\//.exec(uri)?.[1]?.toLowerCase();
  if (scheme !== "http" && scheme !== "https") {
    yield error(path, `${JSON.stringify(uri)} begins with neither http:// nor https://`);
  } else if (!URL.canParse(uri)) yield error(path, `${JSON.stringify(uri)} is not a URL`);
  else if (uri.length > 2048) yield error(path, "is longer than 2048 characters");
}

/** Envoy refuses a whole listener for a key set that it cannot read. */
export function* jwksRules(jwks: string, path: Path): Generator<Finding> {
  let keys: unknown;
  try {
    const parsed: unknown = JSON.parse(jwks);
    keys = typeof parsed === "object" && parsed !== null && "keys" in parsed ? parsed.keys : undefined;
  } catch {
    keys = undefined;
  }
  if (!Array.isArray(keys)) {
    yield error(path, "is no key set", 'write {"keys": [...]}');
    return;
  }
  if (!keys.some(isReadableKey)) yield error(path, "holds no key that Envoy can read", "write an RSA, EC or OKP key");
  yield* keySetRules(jwks, path);
}

/** Members that Envoy needs of a key, by its type. Of a set it takes the keys that it can read, and refuses one without any. */
const keyMembers: Readonly<Record<string, readonly string[]>> = {
  EC: ["x", "y"],
  OKP: ["crv", "x"],
  RSA: ["n", "e"],
  oct: ["k"],
};

function isReadableKey(key: unknown): boolean {
  if (!isFields(key)) return false;
  const members = typeof key.kty === "string" && Object.hasOwn(keyMembers, key.kty) ? keyMembers[key.kty] : undefined;
  return members?.every((name) => /^[\w-]+=*$/.test(textOf(key[name]))) === true;
}
