import { fieldsOf, isFields, listOf } from "../../base/untyped.ts";
import type { Finding } from "../finding.ts";
import type { JWTRule, RequestAuthentication } from "../kinds/request-authentication.ts";
import type { PolicyTarget } from "../kinds/selector.ts";
import { camelFieldName } from "../read-spec.ts";
import { requestAuthenticationRules } from "../rules/security/authentication.ts";
import { requestAuthentication } from "../schema/security.ts";
import { invalidElements } from "./invalid-elements.ts";
import { validSpec } from "./valid-spec.ts";

/** What a RequestAuthentication comes to. */
export interface ClosedTokens {
  readonly spec: RequestAuthentication;
  /** It demands a token, or a field that this release does not know may: a request without one is denied as well. */
  readonly mayRequire: boolean;
}

/** A demand for a token, in an object or in the text of one that cannot be read. */
const demand = /\bpresence\b[\s"'\\]*:[\s"'\\]*(?!OPTIONAL\b|[\s"'\\])/i;

const locations: ReadonlySet<string> = new Set(["fromHeaders", "fromParams", "fromCookies"]);

/**
 * Closes a refused RequestAuthentication: a rule without issuer and keys stands for each invalid one and refuses every token where that
 * one looks for tokens. Valid rules stay where nothing but rules is invalid.
 *
 * @param raw the spec as written
 * @param errors of the object
 */
export function closeTokens(
  raw: unknown,
  errors: readonly Pick<Finding, "code" | "path">[],
  target: PolicyTarget,
): ClosedTokens {
  const mayRequire = errors.some(({ code }) => code === "unknown-field") || demand.test(JSON.stringify(raw) ?? "");
  const written = listOf(fieldsOf(raw).jwtRules ?? fieldsOf(raw).jwt_rules);
  const invalid = mayRequire ? undefined : invalidElements(errors, "jwtRules");
  const jwtRules = written.map((rule, index) =>
    invalid?.has(index) === false ? (readRule(rule) ?? refusing(rule)) : refusing(rule),
  );
  return { spec: { ...target, jwtRules: jwtRules.length === 0 ? [{}] : jwtRules }, mayRequire };
}

function readRule(rule: unknown): JWTRule | undefined {
  return validSpec(requestAuthentication, { jwtRules: [rule] }, requestAuthenticationRules)?.jwtRules?.[0];
}

/** Looks where the rule looks; where that cannot be read, in the usual places. */
function refusing(rule: unknown): JWTRule {
  if (!isFields(rule)) return {};
  const entries = Object.entries(rule).filter(([name]) => locations.has(camelFieldName(name)));
  // The issuer is there for the rule that wants one, and goes again: tokens of every issuer are refused.
  const { issuer: _issuer, ...read } = readRule({ ...Object.fromEntries(entries), issuer: "any" }) ?? {};
  return read;
}
