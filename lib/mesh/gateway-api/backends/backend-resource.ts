import type { Config } from "../../../config/config.ts";
import { hostOfBackend, type KubernetesBackend, portOfBackend } from "../../../config/gateway-api/backend.ts";
import type { BackendTLSPolicy } from "../../../config/gateway-api/backend-policy.ts";
import type { SecretReference } from "../../../config/gateway-api/reference.ts";
import type { ClientTLSSettings } from "../../../config/kinds/destination-rule.ts";
import { systemRoots } from "../../../config/rules/tls/client-tls.ts";
import { trackedQuery } from "../../../incremental/tracked-query.ts";
import type { Drafts } from "../conditions.ts";
import { type Problem, problem } from "../problem.ts";
import {
  type Ancestor,
  credentialOf,
  invalidCredential,
  type MadePolicy,
  tlsSettings,
  valid,
} from "./backend-policies.ts";
import type { PolicySource } from "./policy-source.ts";

const group = "gateway.networking.x-k8s.io";

/**
 * How an XBackend is called, and what its status is. TLS that cannot be had is no connection, and never plain text, for which Istio
 * takes it.
 *
 * @see https://github.com/istio/istio/blob/86c9f01fd735/pilot/pkg/config/kube/gateway/backend_policies.go
 */
export const madeBackend = trackedQuery(
  "backend of the Gateway API",
  ({ config }: { readonly config: Config<KubernetesBackend> }, source: PolicySource): MadePolicy => {
    const { spec, meta } = config;
    const target = { kind: "XBackend", name: meta.name };
    const { tls } = spec;
    const ca =
      tls.validation === undefined ? undefined : credentialOf({ spec: { validation: tls.validation }, meta }, source);
    const client = clientCertificate(config, source);
    const conditions: Drafts = {
      Accepted: {
        reason: "Accepted",
        message: spec.sessionPersistence === undefined ? valid : withoutPersistence,
        ...ca?.accepted,
        problem: ca?.problem ?? (client.problem && problem("Invalid", client.problem.message)),
      },
      ResolvedRefs: {
        reason: "ResolvedRefs",
        message: valid,
        ...ca?.resolved,
        ...(client.problem === undefined ? {} : { problem: client.problem }),
      },
    };
    const ancestor = (ref: Ancestor["ref"], isGateway: boolean): Ancestor => ({ ref, isGateway, conditions });
    const ancestors = [
      ancestor({ group, ...target }, false),
      ...source.gatewaysTo("XBackend", meta.namespace, meta.name).map((gateway) => {
        const [namespace = "", name = ""] = gateway.split("/");
        return ancestor({ group: "gateway.networking.k8s.io", kind: "Gateway", namespace, name }, true);
      }),
    ];
    if (tls.mode === "None") return { config, settings: [], ancestors };
    const host = hostOfBackend(spec, meta);
    const validation = ofItsHost(tls.validation ?? { hostname: host });
    const isUsable = client.problem === undefined && ca?.name !== invalidCredential;
    const settings = isUsable
      ? withClient(tlsSettings(validation, ca?.name ?? ""), client.name)
      : tlsSettings(validation, invalidBackend);
    return {
      config,
      settings: [{ policy: config, target, host, port: portOfBackend(spec), tls: settings }],
      ancestors,
    };
  },
);

/** By the API's text a certificate is for the host, unless other names are stated. Istio takes any that an authority vouches for. */
function ofItsHost(validation: BackendTLSPolicy["validation"]): BackendTLSPolicy["validation"] {
  const { hostname, subjectAltNames = [] } = validation;
  return subjectAltNames.length > 0 ? validation : { ...validation, subjectAltNames: [{ type: "Hostname", hostname }] };
}

const withoutPersistence = `${valid}, but sessionPersistence is not supported`;

/** Names no certificate, for sidecars as well: they take the one of policies for plain text, as in Istio. */
const invalidBackend = `${invalidCredential}backend`;

function withClient(settings: ClientTLSSettings, certificate: string): ClientTLSSettings {
  if (certificate === "") return settings;
  const { credentialName: ca = systemRoots, ...others } = settings;
  return { ...others, mode: "MUTUAL", credentialName: certificate, caCertCredentialName: ca };
}

/** Whether a reference is to a Secret in the namespace of its object. */
export const isBeside = ({ group, kind, namespace }: SecretReference, own: string): boolean =>
  group === "" && kind === "Secret" && (namespace === undefined || namespace === own);

interface ClientCertificate {
  /** "" for none. */
  readonly name: string;
  readonly problem: Problem | undefined;
}

/** The key pair that is shown to a backend: of a Secret beside it, which its author may name without a grant. */
function clientCertificate({ spec, meta }: Config<KubernetesBackend>, source: PolicySource): ClientCertificate {
  const ref = spec.tls.clientCertificateRef;
  if (ref === undefined) return { name: "", problem: undefined };
  const { group, kind, name, namespace = meta.namespace } = ref;
  const wrong = (reason: string, what: string): ClientCertificate => ({
    name: "",
    problem: problem(reason, `invalid clientCertificateRef ${group}/${kind}/${name}, ${what}`),
  });
  if (!isBeside(ref, meta.namespace)) {
    return namespace === meta.namespace
      ? wrong("InvalidClientCertificateRef", "only secret is allowed")
      : wrong("RefNotPermitted", `the secret has to be in the namespace of the XBackend, ${meta.namespace}`);
  }
  const found = source.keyPairProblem(namespace, name);
  if (found === "") return { name: `kubernetes-gateway://${namespace}/${name}`, problem: undefined };
  const what = found === "not found" ? `secret ${namespace}/${name} not found` : found;
  return wrong("InvalidClientCertificateRef", what);
}
