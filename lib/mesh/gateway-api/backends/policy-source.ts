/** What policies for backends may ask of the rest of the world; every answer is recorded (`lib/incremental/tracked-query.ts`). */
export interface PolicySource {
  /** The ports of a service of Kubernetes; undefined: there is none. The same list as long as it says the same. */
  servicePorts(namespace: string, name: string): readonly NamedPort[] | undefined;
  /** Hosts of a ServiceEntry; undefined: there is none. */
  entryHosts(namespace: string, name: string): readonly string[] | undefined;
  entryPorts(namespace: string, name: string): readonly NamedPort[];
  hasSecret(namespace: string, name: string): boolean;
  /** What is wrong with the key pair in a Secret: "" for nothing, `not found`, or what a condition says of it. */
  keyPairProblem(namespace: string, name: string): string;
  /** What is wrong with the certificates in a ConfigMap: "" for nothing, `not found`, or what a condition says of it. */
  configMapRootProblem(namespace: string, name: string): string;
  /** The same of a ClusterTrustBundle. */
  clusterRootProblem(name: string): string;
  /** Another policy for the same target that comes before this one; "" for none. */
  rival(policyNamespace: string, policyName: string, kind: string, name: string, section: string): string;
  /** The interval of a retry budget is heeded. */
  readsBudgetInterval(): boolean;
  /** Names of the Gateways, each once, whose routes lead to a backend. */
  gatewaysTo(kind: string, namespace: string, name: string): readonly string[];
}

export interface NamedPort {
  readonly name: string;
  readonly number: number;
}
