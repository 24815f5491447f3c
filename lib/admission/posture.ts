import { identityText, kindText } from "../base/diagnostic.ts";
import type { Config } from "../config/config.ts";
import { isDryRun } from "../config/dry-run.ts";
import type { AuthorizationPolicy } from "../config/kinds/authorization-policy.ts";
import type { PeerAuthentication } from "../config/kinds/peer-authentication.ts";
import type { JWTRule, RequestAuthentication } from "../config/kinds/request-authentication.ts";
import type { Labels } from "../config/values/labels.ts";
import { indexPeerAuthentications } from "../mesh/index/peer-authentication.ts";
import { indexPolicies } from "../mesh/index/workload-policies.ts";
import { type Request, ruleMatches } from "./requests.ts";

/** A workload as policies select it. */
export interface GuardedWorkload {
  /** For messages: `shop/web-1`. */
  readonly name: string;
  readonly namespace: string;
  readonly labels: Labels;
}

/** What protects a workload. */
export interface Posture {
  /** Policies that count, but for those that are only tried out. */
  readonly policies: readonly Config<AuthorizationPolicy>[];
  /** Whether plain text is refused, on the ports that were asked for, and last on all others. */
  readonly isStrict: readonly boolean[];
  /** Rules by which tokens are verified. */
  readonly tokens: readonly JWTRule[];
  /** The same text for workloads that have the same of all of this. */
  readonly group: string;
}

/** Kinds whose objects decide about a posture. */
export const isPostureKind = ({ group, kind }: { readonly group: string; readonly kind: string }): boolean =>
  group === "security.istio.io" && kinds.has(kind);

const kinds: ReadonlySet<string> = new Set(["AuthorizationPolicy", "PeerAuthentication", "RequestAuthentication"]);

/**
 * The posture of workloads under policies, by the rules that the compiler selects policies by.
 *
 * @param configs of any kind, oldest first
 * @param ports of which single modes are looked at
 */
export function postures(
  workloads: readonly GuardedWorkload[],
  configs: readonly Config[],
  rootNamespace: string,
  ports: readonly number[],
): readonly Posture[] {
  // Configs were read by the schema of their kind, so the kind says the type of the spec.
  const ofKind = <Spec>(kind: string) =>
    configs.filter(({ meta }) => kindText(meta) === kind) as readonly Config<Spec>[];
  const policies = indexPolicies({
    authorization: ofKind<AuthorizationPolicy>("AuthorizationPolicy"),
    requestAuthentication: ofKind<RequestAuthentication>("RequestAuthentication"),
    telemetry: [],
    wasmPlugins: [],
    trafficExtensions: [],
  }).value;
  const peers = indexPeerAuthentications(ofKind<PeerAuthentication>("PeerAuthentication"), rootNamespace).value;
  return workloads.map(({ namespace, labels }) => {
    const { authorization, requestAuthentication } = policies({ namespace, labels, rootNamespace });
    const isStrict = [...ports, noPort].map((port) => peers.workloadMode(namespace, labels, port) === "STRICT");
    return {
      policies: authorization.filter(({ meta }) => !isDryRun(meta.annotations)),
      isStrict,
      tokens: requestAuthentication.flatMap(({ spec: { jwtRules = [] } }) => jwtRules),
      group:
        [...authorization, ...requestAuthentication].map(({ origin }) => identityText(origin.key)).join() + isStrict,
    };
  });
}

/** The ports that PeerAuthentications among some objects name. */
export const portsNamedIn = (configs: readonly Config[]): readonly number[] => [
  ...new Set(
    configs
      .filter(({ meta }) => kindText(meta) === "PeerAuthentication")
      .flatMap(({ spec }) => Object.keys((spec as PeerAuthentication).portLevelMtls ?? {}).map(Number)),
  ),
];

/** A port that no policy names. */
const noPort = 0;

/** What becomes of a request: `denied` by a rule, `refused` since none allows it, or an authorizer is asked. */
export type Decision = "allowed" | "refused" | "denied" | `asked ${string}`;

/** What policies make of a request. */
export function decide(policies: readonly AuthorizationPolicy[], request: Request): Decision {
  const matching = (action: AuthorizationPolicy["action"]) =>
    policies.filter(
      (policy) =>
        (policy.action ?? "ALLOW") === action && (policy.rules ?? []).some((rule) => ruleMatches(rule, request)),
    );
  if (matching("DENY").length > 0) return "denied";
  const allows = policies.some(({ action = "ALLOW" }) => action === "ALLOW");
  if (allows && matching("ALLOW").length === 0) return "refused";
  const [custom] = matching("CUSTOM");
  return custom === undefined ? "allowed" : `asked ${custom.provider?.name ?? ""}`;
}
