import type { Fields } from "../../base/untyped.ts";
import { type Installation, nameOf } from "./install-options.ts";
import { webhookNames } from "./webhook-objects.ts";

export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

const reads = ["list", "watch"];

/** What `collect kube` reads in all namespaces. */
const collectorRules: readonly Rule[] = [
  { apiGroups: [""], resources: ["services", "pods", "nodes", "namespaces"], verbs: reads },
  // Trusted certificates, each read by its name where an object names it. None can be listed.
  { apiGroups: [""], resources: ["configmaps"], verbs: ["get"] },
  { apiGroups: ["certificates.k8s.io"], resources: ["clustertrustbundles"], verbs: ["get"] },
  { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: reads },
  { apiGroups: ["networking.k8s.io"], resources: ["ingresses", "ingressclasses"], verbs: reads },
  {
    apiGroups: [
      "networking.istio.io",
      "security.istio.io",
      "telemetry.istio.io",
      "extensions.istio.io",
      // Of old releases; a group that is not there costs nothing.
      "config.istio.io",
      "authentication.istio.io",
      "rbac.istio.io",
      "gateway.networking.k8s.io",
      "gateway.networking.x-k8s.io",
      "inference.networking.k8s.io",
      "inference.networking.x-k8s.io",
    ],
    resources: ["*"],
    verbs: reads,
  },
];

/** What it reads in Istio's namespace: the mesh's settings. */
const istioNamespaceRules: readonly Rule[] = [
  { apiGroups: [""], resources: ["configmaps"], resourceNames: ["istio"], verbs: reads },
];

const secretNameRules: readonly Rule[] = [{ apiGroups: [""], resources: ["secrets"], verbs: reads }];

/** WorkloadEntries of machines that register themselves; lists of them and of their groups are the collector's already. */
const workloadEntryRules: readonly Rule[] = [
  { apiGroups: ["networking.istio.io"], resources: ["workloadentries"], verbs: ["create", "update", "delete"] },
  { apiGroups: ["networking.istio.io"], resources: ["workloadentries/status"], verbs: ["patch"] },
];

/** A set of rights: for all namespaces where it has none. */
export interface Grant {
  readonly name: string;
  readonly account: string;
  readonly namespace?: string;
  readonly rules: readonly Rule[];
}

/** Every right that an installation gives, each with the option that asks for it. */
export function grantsOf(of: Installation): readonly Grant[] {
  const name = nameOf(of);
  const { istioNamespace } = of;
  const webhooks = webhookNames(of);
  return [
    { name, account: name, rules: collectorRules },
    { name, account: name, namespace: istioNamespace, rules: istioNamespaceRules },
    ...(of.secretNames ? [{ name: `${name}-secret-names`, account: name, rules: secretNameRules }] : []),
    ...(of.workloadEntries ? [{ name: `${name}-workload-entries`, account: name, rules: workloadEntryRules }] : []),
    ...(of.features.has("admission")
      ? [
          {
            name: `${name}-admission`,
            account: `${name}-admission`,
            rules: [...rootCertRules, ...webhookRules(webhooks)],
          },
        ]
      : []),
  ];
}

/** The CA's roots are written into each namespace, into one ConfigMap; a server-side apply creates and patches. */
const rootCertRules: readonly Rule[] = [
  { apiGroups: [""], resources: ["namespaces"], verbs: ["list"] },
  {
    apiGroups: [""],
    resources: ["configmaps"],
    resourceNames: ["istio-ca-root-cert"],
    verbs: ["list", "create", "patch"],
  },
];

/** The authorities in webhook configurations follow the CA. */
const webhookRules = ({ validating, mutating }: ReturnType<typeof webhookNames>): readonly Rule[] =>
  (
    [
      ["validatingwebhookconfigurations", validating],
      ["mutatingwebhookconfigurations", mutating],
    ] as const
  )
    .filter(([, resourceNames]) => resourceNames.length > 0)
    .map(([resource, resourceNames]) => ({
      apiGroups: ["admissionregistration.k8s.io"],
      resources: [resource],
      resourceNames,
      verbs: ["get", "patch"],
    }));

export function accountObjects(of: Installation): readonly Fields[] {
  const { namespace, features } = of;
  const account = (name: string, more: Fields = {}): Fields => ({
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name, namespace },
    ...more,
  });
  const name = nameOf(of);
  return [
    account(`${name}-front`, { automountServiceAccountToken: false }),
    account(name),
    ...(features.has("admission") ? [account(`${name}-admission`)] : []),
    ...grantsOf(of).flatMap((grant) => grantObjects(grant, namespace)),
  ];
}

function grantObjects({ name, account, namespace, rules }: Grant, accountNamespace: string): readonly Fields[] {
  const apiVersion = "rbac.authorization.k8s.io/v1";
  const kind = namespace === undefined ? "ClusterRole" : "Role";
  const metadata = namespace === undefined ? { name } : { name, namespace };
  return [
    { apiVersion, kind, metadata, rules },
    {
      apiVersion,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name },
      subjects: [{ kind: "ServiceAccount", name: account, namespace: accountNamespace }],
    },
  ];
}
