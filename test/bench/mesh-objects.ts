/** Kubernetes and Istio objects as the synthetic mesh has them, each with what a compiler reads of it and no more. */

export interface MeshObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: object;
  readonly [field: string]: unknown;
}

export interface Pod {
  readonly name: string;
  readonly namespace: string;
  readonly ip: string;
  readonly node: string;
  readonly account: string;
  readonly labels: Readonly<Record<string, string>>;
}

interface Port {
  readonly name: string;
  readonly port: number;
  readonly targetPort: number;
}

/** @param zone `region/zone` */
export function node(name: string, zone: string): MeshObject {
  const [region, inRegion] = zone.split("/");
  const labels = { "topology.kubernetes.io/region": region, "topology.kubernetes.io/zone": inRegion };
  return { apiVersion: "v1", kind: "Node", metadata: { name, labels } };
}

export function namespace(name: string): MeshObject {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name } };
}

/** A service of the pods whose label `app` is its name. */
export function service(name: string, inNamespace: string, clusterIP: string, port: Port): MeshObject {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: inNamespace, labels: { app: name } },
    spec: { clusterIP, selector: { app: name }, ports: [{ ...port, protocol: "TCP" }] },
  };
}

/** A running pod with a sidecar. */
export function pod({ name, namespace, ip, node, account, labels }: Pod): MeshObject {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace, labels: { ...labels, "security.istio.io/tlsMode": "istio" } },
    spec: { serviceAccountName: account, nodeName: node, containers: [{ name: "app", image: "example/app" }] },
    status: {
      phase: "Running",
      podIP: ip,
      podIPs: [{ ip }],
      conditions: [{ type: "Ready", status: "True" }],
    },
  };
}

export function endpointSlice(
  serviceName: string,
  inNamespace: string,
  { name, targetPort }: Port,
  pods: readonly Pod[],
): MeshObject {
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      name: `${serviceName}-slice`,
      namespace: inNamespace,
      labels: { "kubernetes.io/service-name": serviceName },
    },
    addressType: "IPv4",
    ports: [{ name, port: targetPort, protocol: "TCP" }],
    endpoints: pods.map((each) => ({
      addresses: [each.ip],
      conditions: { ready: true },
      nodeName: each.node,
      targetRef: { kind: "Pod", name: each.name, namespace: inNamespace },
    })),
  };
}

/** Two versions of a service, and nine of ten requests to the first of them, within the mesh and from outside. */
export function split(name: string, inNamespace: string, gatewayName: string): readonly MeshObject[] {
  const metadata = { name, namespace: inNamespace };
  const subset = (version: string) => ({ destination: { host: name, subset: version } });
  return [
    {
      apiVersion: "networking.istio.io/v1",
      kind: "DestinationRule",
      metadata,
      spec: {
        host: name,
        trafficPolicy: { loadBalancer: { simple: "LEAST_REQUEST" } },
        subsets: ["v1", "v2"].map((version) => ({ name: version, labels: { version } })),
      },
    },
    {
      apiVersion: "networking.istio.io/v1",
      kind: "VirtualService",
      metadata,
      spec: {
        hosts: [`${name}.${inNamespace}.svc.cluster.local`, `${name}.example.com`],
        gateways: ["mesh", gatewayName],
        http: [
          { match: [{ headers: { "x-try": { exact: "next" } } }], route: [subset("v2")] },
          {
            route: [
              { ...subset("v1"), weight: 90 },
              { ...subset("v2"), weight: 10 },
            ],
            timeout: "5s",
            retries: { attempts: 3, perTryTimeout: "2s" },
          },
        ],
      },
    },
  ];
}

/** A gateway for every host of example.com. */
export function gateway(name: string, inNamespace: string, selector: Readonly<Record<string, string>>): MeshObject {
  const port = { number: 80, name: "http", protocol: "HTTP" };
  return {
    apiVersion: "networking.istio.io/v1",
    kind: "Gateway",
    metadata: { name, namespace: inNamespace },
    spec: { selector, servers: [{ port, hosts: ["*.example.com"] }] },
  };
}
