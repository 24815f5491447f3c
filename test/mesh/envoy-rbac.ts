/** Envoy's RBAC filters, as a judge of requests. */
import type { Config } from "../../lib/config/config.ts";
import type { AuthorizationPolicy } from "../../lib/config/kinds/authorization-policy.ts";
import type { ServiceLookups } from "../../lib/mesh/views/views.ts";
import { httpAuthorization } from "../../lib/xds/security/authorization.ts";
import { providerLookups } from "../../lib/xds/telemetry/provider-cluster.ts";

/** A request as it arrives at a workload. */
export interface Asked {
  readonly port: number;
  readonly method: string;
  readonly path: string;
  readonly host: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly from: string;
  /** SPIFFE identity without `spiffe://`; undefined: no certificate. */
  readonly peer: string | undefined;
  /** Claims of a good token. */
  readonly token: Readonly<Record<string, string | readonly string[]>> | undefined;
}

/** A request with nothing special about it, of a client with a certificate and without a token. */
export function requestOn(port: number): Asked {
  return {
    port,
    method: "GET",
    path: "/",
    host: "book",
    headers: {},
    from: "10.0.0.1",
    peer: "cluster.local/ns/bar/sa/web",
    token: undefined,
  };
}

type Json = Readonly<Record<string, unknown>>;

const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);
const listOf = (value: unknown, field: string): readonly unknown[] =>
  isJson(value) && Array.isArray(value[field]) ? value[field] : [];

/** What the filters of some policies decide: the last word is each filter's, in order. */
export function envoyAllows(
  policies: readonly Config<AuthorizationPolicy>[],
  lookups: ServiceLookups,
  asked: Asked,
): boolean {
  return httpAuthorization(policies, providerLookups(lookups)).value.builtIn.every(({ typedConfig }) => {
    const config: unknown = typedConfig;
    const rules = isJson(config) ? config.rules : undefined;
    if (!isJson(rules) || rules.action === "LOG") return true;
    const matched = Object.values(isJson(rules.policies) ? rules.policies : {}).some(
      (policy) =>
        listOf(policy, "permissions").some((one) => matches(one, asked)) &&
        listOf(policy, "principals").some((one) => matches(one, asked)),
    );
    return rules.action === "DENY" ? !matched : matched;
  });
}

/** One permission or principal. */
function matches(matcher: unknown, asked: Asked): boolean {
  const [[kind, value] = ["", undefined]] = Object.entries(isJson(matcher) ? matcher : {});
  switch (kind) {
    case "any":
      return true;
    case "andRules":
      return listOf(value, "rules").every((one) => matches(one, asked));
    case "orRules":
      return listOf(value, "rules").some((one) => matches(one, asked));
    case "andIds":
      return listOf(value, "ids").every((one) => matches(one, asked));
    case "orIds":
      return listOf(value, "ids").some((one) => matches(one, asked));
    case "notRule":
    case "notId":
      return !matches(value, asked);
    case "destinationPort":
      return value === asked.port;
    case "urlPath":
      return textMatches(isJson(value) ? value.path : undefined, asked.path);
    case "header":
      return headerMatches(value, asked);
    case "authenticated":
      return (
        asked.peer !== undefined &&
        textMatches(isJson(value) ? value.principalName : undefined, `spiffe://${asked.peer}`)
      );
    case "directRemoteIp":
      return isJson(value) && within(asked.from, `${value.addressPrefix}/${value.prefixLen}`);
    case "metadata":
      return claimMatches(value, asked);
    default:
      throw new Error(`no judge knows ${JSON.stringify(matcher)}`);
  }
}

function headerMatches(value: unknown, { method, host, headers }: Asked): boolean {
  if (!isJson(value)) return false;
  const all: Readonly<Record<string, string>> = { ":method": method, ":authority": host, ...headers };
  const text = all[String(value.name)];
  if (text === undefined) return false;
  return value.presentMatch === true || textMatches(value.stringMatch, text);
}

function claimMatches(value: unknown, { token }: Asked): boolean {
  if (!isJson(value) || token === undefined) return false;
  const claim = token[String(listOf(value, "path").flatMap((step) => (isJson(step) ? [step.key] : []))[1])];
  return claim !== undefined && valueMatches(value.value, claim);
}

function valueMatches(matcher: unknown, claim: string | readonly string[]): boolean {
  if (!isJson(matcher)) return false;
  if (isJson(matcher.orMatch)) return listOf(matcher.orMatch, "valueMatchers").some((one) => valueMatches(one, claim));
  if (isJson(matcher.listMatch)) {
    const { oneOf } = matcher.listMatch;
    return typeof claim !== "string" && claim.some((element) => valueMatches(oneOf, element));
  }
  return typeof claim === "string" && textMatches(matcher.stringMatch, claim);
}

function textMatches(matcher: unknown, text: string): boolean {
  if (!isJson(matcher)) return false;
  if (isJson(matcher.safeRegex)) return new RegExp(`^(?:${matcher.safeRegex.regex})$`).test(text);
  if (typeof matcher.prefix === "string") return text.startsWith(matcher.prefix);
  if (typeof matcher.suffix === "string") return text.endsWith(matcher.suffix);
  return matcher.ignoreCase === true
    ? String(matcher.exact).toLowerCase() === text.toLowerCase()
    : matcher.exact === text;
}

/** For ranges of whole IPv4 octets. */
function within(address: string, range: string): boolean {
  const [prefix = "", bits = "32"] = range.split("/");
  const octets = Number(bits) / 8;
  return address.split(".").slice(0, octets).join() === prefix.split(".").slice(0, octets).join();
}
