import type { Config } from "../../config/config.ts";
import { type KubernetesBackend, portOfBackend } from "../../config/gateway-api/backend.ts";
import { trackedQuery } from "../../incremental/tracked-query.ts";
import {
  type Ancestor,
  credentialOf,
  invalidCredential,
  type MadePolicy,
  tlsSettings,
  valid,
} from "./backend-policies.ts";
import type { Drafts } from "./conditions.ts";
import type { PolicySource } from "./policy-source.ts";
import { type Problem, problem } from "./problem.ts";

const group = "gateway.networking.x-k8s.io";

/**
 * How an XBackend is called, and what it is told. TLS that cannot be had is no connection, and never plain text, for which Istio
 * takes it.
 *
 * @see https://github.com/istio/istio/blob/86c9f01fd735/pilot/pkg/config/kube/gateway/backend_policies.go
 */
export const madeBackend = trackedQuery(
  "backend of the Gateway API",
  ({ config }: { readonly config: Config<KubernetesBackend> }, source: PolicySource): MadePolicy => {
    const { spec, meta } = config;
    const target = { kind: "XBackend", name: meta.name };
    const { externalHostname, tls } = spec;
    const credential =
      tls.validation === undefined ? undefined : credentialOf({ spec: { validation: tls.validation }, meta }, source);
    const unsupported = unsupportedIn(spec);
    const conditions: Drafts = {
      Accepted: {
        reason: "Accepted",
        message: valid,
        ...credential?.accepted,
        problem: unsupported ?? credential?.problem,
      },
      ResolvedRefs: { reason: "ResolvedRefs", message: valid, ...credential?.resolved },
    };
    const ancestor = (ref: Ancestor["ref"], isGateway: boolean): Ancestor => ({ ref, isGateway, conditions });
    const ancestors = [
      ancestor({ group, ...target }, false),
      ...source.gatewaysTo("XBackend", meta.namespace, meta.name).map((gateway) => {
        const [namespace = "", name = ""] = gateway.split("/");
        return ancestor({ group: "gateway.networking.k8s.io", kind: "Gateway", namespace, name }, true);
      }),
    ];
    if (externalHostname === undefined || tls.mode === "None") return { config, settings: [], ancestors };
    const host = externalHostname.hostname;
    const name = unsupported === undefined ? (credential?.name ?? "") : invalidCredential;
    const settings = tlsSettings(tls.validation ?? { hostname: host }, name);
    return {
      config,
      settings: [{ policy: config, target, host, port: portOfBackend(spec), tls: settings }],
      ancestors,
    };
  },
);

function unsupportedIn({ type, tls }: KubernetesBackend): Problem | undefined {
  if (type !== "ExternalHostname") return problem("Invalid", `unsupported backend type: ${type}`);
  if (tls.mode !== "ClientAndServer") return undefined;
  const message = "unsupported ClientAndServer TLS mode: Istio does not support client certificates on backend";
  return problem("Invalid", message);
}
