/** What a registry needs to know of a proxy to find the workload and the services that it backs. */
export interface ProxyQuery {
  /** `podName.namespace` on Kubernetes. */
  readonly id: string;
  readonly namespace: string;
  readonly addresses: readonly string[];
  readonly clusterId: string;
  readonly labels: Readonly<Record<string, string>>;
}
