import type { Fields } from "../../base/untyped.ts";
import { ignoredNamespaces, injectLabel, namespaceLabel, revisionLabel } from "../../registry/kubernetes/injection.ts";

/** Where an API server finds the webhooks. */
export type WebhookAddress =
  | { readonly kind: "service"; readonly name: string; readonly namespace: string; readonly port: number }
  /** `https://host:port`, without a path. */
  | { readonly kind: "url"; readonly url: string };

export interface WebhookOptions {
  readonly address: WebhookAddress;
  /** Certificates of the authorities, PEM, that vouch for the webhook; absent: those that the API server trusts by itself. */
  readonly authority?: string;
  /** `Fail`: what the webhook does not answer is refused; `Ignore`: it is allowed. */
  readonly failurePolicy: "Fail" | "Ignore";
  /** Last segment of the path, for API servers that can show a token in no other way. */
  readonly token?: string;
  /** Namespaces that are never looked at: the webhook's own, or it could not be mended while it is down. */
  readonly exceptNamespaces: readonly string[];
  readonly revision: string;
}

/** Groups whose objects are validated. */
const groups = [
  "security.istio.io",
  "networking.istio.io",
  "telemetry.istio.io",
  "extensions.istio.io",
  "gateway.networking.k8s.io",
] as const;

/** An API server waits so long for an answer. */
const timeoutSeconds = 10;

/** @param withDeletes whether deletions are asked about, which only a webhook with `workloads: refuse` or a world has a say in */
export function validatingConfiguration(options: WebhookOptions, withDeletes: boolean): Fields {
  const { failurePolicy, exceptNamespaces, revision } = options;
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: named("portolan-validator", revision), labels: revisionLabels(revision) },
    webhooks: [
      {
        name: "validate.portolan.dev",
        clientConfig: clientConfig(options, "/admission/validate"),
        rules: [
          {
            operations: ["CREATE", "UPDATE", ...(withDeletes ? ["DELETE"] : [])],
            apiGroups: groups,
            apiVersions: ["*"],
            resources: ["*"],
          },
        ],
        failurePolicy,
        matchPolicy: "Equivalent",
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
        timeoutSeconds,
        ...(exceptNamespaces.length === 0
          ? {}
          : {
              namespaceSelector: {
                matchExpressions: [requirement("kubernetes.io/metadata.name", "NotIn", exceptNamespaces)],
              },
            }),
      },
    ],
  };
}

export interface InjectionWebhookOptions extends WebhookOptions {
  /** Whether pods are injected where neither they nor their namespace have a label. */
  readonly enableNamespacesByDefault: boolean;
}

/**
 * The selectors by which Istio's own configuration chooses pods, in its order.
 *
 * @see istio 1.30.3 manifests/charts/istio-control/istio-discovery/templates/mutatingwebhook.yaml
 */
export function mutatingConfiguration(options: InjectionWebhookOptions): Fields {
  const { revision, enableNamespacesByDefault, failurePolicy } = options;
  const isDefault = revision === "default";
  const webhook = (prefix: string, namespaces: readonly Fields[], pods: readonly Fields[]): Fields => ({
    name: `${prefix}.inject.portolan.dev`,
    clientConfig: clientConfig(options, "/admission/inject"),
    rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] }],
    failurePolicy,
    reinvocationPolicy: "Never",
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
    timeoutSeconds,
    namespaceSelector: { matchExpressions: [...namespaces, ...exceptions] },
    objectSelector: { matchExpressions: pods },
  });
  const { exceptNamespaces } = options;
  const exceptions =
    exceptNamespaces.length === 0 ? [] : [requirement("kubernetes.io/metadata.name", "NotIn", exceptNamespaces)];
  const absent = (label: string) => requirement(label, "DoesNotExist");
  const among = (label: string, ...values: readonly string[]) => requirement(label, "In", values);
  const wanted = requirement(injectLabel, "NotIn", ["false"]);
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name: named("portolan-sidecar-injector", revision), labels: revisionLabels(revision) },
    webhooks: [
      webhook("rev.namespace", [among(revisionLabel, revision), absent(namespaceLabel)], [wanted]),
      webhook("rev.object", [absent(revisionLabel), absent(namespaceLabel)], [wanted, among(revisionLabel, revision)]),
      ...(isDefault
        ? [
            webhook("namespace", [among(namespaceLabel, "enabled")], [wanted]),
            webhook(
              "object",
              [absent(namespaceLabel), absent(revisionLabel)],
              [among(injectLabel, "true"), absent(revisionLabel)],
            ),
          ]
        : []),
      ...(isDefault && enableNamespacesByDefault
        ? [
            webhook(
              "auto",
              [
                absent(namespaceLabel),
                absent(revisionLabel),
                requirement("kubernetes.io/metadata.name", "NotIn", [...ignoredNamespaces]),
              ],
              [absent(injectLabel), absent(revisionLabel)],
            ),
          ]
        : []),
    ],
  };
}

function clientConfig({ address, authority, token }: WebhookOptions, path: string): Fields {
  const whole = token === undefined ? path : `${path}/${encodeURIComponent(token)}`;
  const { kind, ...service } = address;
  return {
    ...(address.kind === "url"
      ? { url: `${address.url.endsWith("/") ? address.url.slice(0, -1) : address.url}${whole}` }
      : { service: { ...service, path: whole } }),
    ...(authority === undefined ? {} : { caBundle: btoa(authority) }),
  };
}

const requirement = (key: string, operator: string, values?: readonly string[]): Fields => ({
  key,
  operator,
  ...(values === undefined ? {} : { values }),
});

const named = (name: string, revision: string): string => (revision === "default" ? name : `${name}-${revision}`);

const revisionLabels = (revision: string): Fields => ({
  "app.kubernetes.io/name": "portolan",
  [revisionLabel]: revision,
});
