import type { Config } from "../../config/config.ts";
import type { AuthenticationPolicy, TargetSelector } from "../../config/kinds/legacy/authentication-policy.ts";
import { groupBy } from "../group-by.ts";
import type { MutualTlsMode } from "../views/views.ts";
import type { ServedPort } from "./served-port.ts";

type Policy = Config<AuthenticationPolicy>;

/** Which authentication policy holds where; policies without targets for a namespace, the MeshPolicy for the rest. */
export interface AuthenticationIndex {
  readonly meshPolicy: Policy | undefined;
  namespacePolicy(namespace: string): Policy | undefined;
  /** Of the service's port, else of the service, else of its namespace, else of the mesh. */
  policyFor(
    service: { readonly hostname: string; readonly namespace: string },
    port: ServedPort["servicePort"],
  ): Policy | undefined;
  /** Host names of services that policies of a namespace are written for, whether or not they exist. */
  targetsIn(namespace: string): ReadonlySet<string>;
}

/**
 * Within a level the oldest policy counts. A target's `subset` and `labels` were never read by any release.
 *
 * @param policies, meshPolicies oldest first
 * @see docs/policies.md
 * @see istio 1.4.10 pilot/pkg/model/push_context.go
 */
export function indexAuthentication(
  policies: readonly Policy[],
  meshPolicies: readonly Policy[],
  domain: string,
): AuthenticationIndex {
  const general = new Map<string, Policy>();
  const targeted: { readonly host: string; readonly target: TargetSelector; readonly policy: Policy }[] = [];
  for (const policy of policies) {
    const { targets = [] } = policy.spec;
    const { namespace } = policy.meta;
    if (targets.length === 0 && !general.has(namespace)) general.set(namespace, policy);
    for (const target of targets) targeted.push({ host: targetHost(target, namespace, domain), target, policy });
  }
  const byHost = groupBy(targeted, ({ host, policy }) => `${policy.meta.namespace}/${host}`);
  const hosts = new Map(
    [...groupBy(targeted, ({ policy }) => policy.meta.namespace)].map(([namespace, found]) => [
      namespace,
      new Set(found.map(({ host }) => host)),
    ]),
  );
  const [meshPolicy] = meshPolicies;
  return {
    meshPolicy,
    namespacePolicy: (namespace) => general.get(namespace),
    policyFor: ({ hostname, namespace }, port) => {
      const found = byHost.get(`${namespace}/${hostname}`) ?? [];
      const own =
        found.find(({ target }) => target.ports?.some((of) => isPort(of, port)) === true) ??
        found.find(({ target }) => (target.ports ?? []).length === 0);
      return own?.policy ?? general.get(namespace) ?? meshPolicy;
    },
    targetsIn: (namespace) => hosts.get(namespace) ?? nothing,
  };
}

const nothing: ReadonlySet<string> = new Set();

/** Targets are named by the short names of services of the policy's namespace. */
export function targetHost({ name }: TargetSelector, namespace: string, domain: string): string {
  return `${name}.${namespace}.svc.${domain}`;
}

export function isPort(
  selector: { readonly number?: number; readonly name?: string },
  port: ServedPort["servicePort"],
): boolean {
  return selector.number === undefined ? selector.name === port.name : selector.number === port.port;
}

/**
 * Mode of mutual TLS that a policy asks for. Whether peers are optional, and whether TLS without certificate is allowed, is
 * read by no listener.
 */
export function mutualTlsMode({ spec }: Policy): MutualTlsMode {
  const mtls = spec.peers?.find((peer) => peer.mtls !== undefined)?.mtls;
  if (mtls === undefined) return "DISABLE";
  return mtls.mode === "PERMISSIVE" ? "PERMISSIVE" : "STRICT";
}
