import { defaultCreationTimeMs } from "../../config/config.ts";
import type { Endpoint, Service, ServiceAttributes } from "../service.ts";

/** What a registry says that knows names, ports, addresses and labels, and nothing of what Kubernetes adds to them. */
export const plainAttributes = {
  labels: {},
  exportTo: undefined,
  selector: undefined,
  clusterExternalAddresses: new Map(),
  clusterExternalPorts: new Map(),
  trafficDistribution: "Any",
  nodeLocal: false,
  publishNotReadyAddresses: false,
  aliases: [],
} as const satisfies Partial<ServiceAttributes>;

/** The same of a service. */
export const plainService = {
  autoAllocatedIPv4: "",
  autoAllocatedIPv6: "",
  clusterVips: new Map(),
  creationTimestampMs: defaultCreationTimeMs,
  resourceVersion: "",
} as const satisfies Partial<Service>;

/** The same of an endpoint: nobody knows its workload, or whether it is healthy. */
export const plainEndpoint = {
  network: "",
  weight: 0,
  health: "Healthy",
  workloadName: "",
  hostName: "",
  subDomain: "",
  nodeName: "",
  hasHealth: false,
  unixPath: "",
} as const satisfies Partial<Endpoint>;
