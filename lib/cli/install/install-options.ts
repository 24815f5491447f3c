/** What `portolan install` puts into a cluster beside the front and what compiles. */
export const features = ["ca", "admission", "injection", "istiod"] as const;
export type Feature = (typeof features)[number];

/** An installation: what its objects are made from. */
export interface Installation {
  readonly namespace: string;
  /** Where Istio's ConfigMap `istio` and its Service `istiod` are. */
  readonly istioNamespace: string;
  /** As in `istio.io/rev`; several installations of one cluster differ in it. */
  readonly revision: string;
  /** Other values of `istio.io/rev` that choose this revision. */
  readonly tags: readonly string[];
  readonly features: ReadonlySet<Feature>;
  readonly store: string;
  readonly image: string;
  /** Variables of all pods, such as AWS_REGION. */
  readonly env: Readonly<Record<string, string>>;
  readonly clusterDomain: string;
  /** Whether the collector lists Secrets for their names, which needs a right of its own. */
  readonly secretNames: boolean;
  /** Whether the collector writes WorkloadEntries of machines that register themselves. */
  readonly workloadEntries: boolean;
}

const usualRevision = "default";

/** The name that Istio's charts give something in a revision: the usual one has no suffix. */
export const inRevision = (name: string, revision: string): string =>
  revision === usualRevision ? name : `${name}-${revision}`;

/** The name of all objects, alone or with a part after it. */
export const nameOf = ({ revision }: Pick<Installation, "revision">): string => inRevision("portolan", revision);

/** The names by which Istio's agents reach their control plane: Istio's, and those of the front itself. */
export function tlsNames(of: Installation): readonly string[] {
  const services = [
    ["istiod", of.istioNamespace],
    ...(of.revision === usualRevision ? [] : [[inRevision("istiod", of.revision), of.istioNamespace]]),
    [nameOf(of), of.namespace],
  ];
  return services.flatMap(([name, namespace]) => serviceNames(`${name}.${namespace}`, of.clusterDomain));
}

/** @param service `NAME.NAMESPACE` */
export const serviceNames = (service: string, clusterDomain: string): readonly string[] => [
  `${service}.svc`,
  service,
  `${service}.svc.${clusterDomain}`,
];
