/** Objects of a namespace `shop` of gRPC programs. Each server has a port of its own, since all listen at every address of one machine. */

export interface ProgramPod {
  /** `v1` of `echo-v1`, and its version. */
  readonly name: string;
  /** Of its own on loopback: pods are told apart by their addresses. */
  readonly address: string;
  readonly port: number;
}

export const programPods = (app: string, pods: readonly ProgramPod[]): string =>
  pods
    .map(
      ({ name, address, port }) => `
apiVersion: v1
kind: Pod
metadata:
  name: ${app}-${name}
  namespace: shop
  labels: { app: ${app}, version: ${name} }
  annotations: { inject.istio.io/templates: grpc-agent }
spec:
  serviceAccountName: ${app}
  containers: [{ name: app, image: example/app, ports: [{ name: grpc, containerPort: ${port} }] }]
status:
  phase: Running
  podIP: ${address}
  podIPs: [{ ip: ${address} }]
  conditions: [{ type: Ready, status: "True" }]
---`,
    )
    .join("");

export const programSlices = (app: string, pods: readonly ProgramPod[]): string =>
  pods
    .map(
      ({ name, address, port }) => `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: ${app}-${name}, namespace: shop, labels: { kubernetes.io/service-name: ${app} } }
addressType: IPv4
endpoints:
  - addresses: [${address}]
    conditions: { ready: true }
    targetRef: { kind: Pod, name: ${app}-${name}, namespace: shop }
ports: [{ name: grpc, port: ${port}, protocol: TCP }]
---`,
    )
    .join("");

export const programService = (app: string, clusterIp: string): string => `
apiVersion: v1
kind: Service
metadata: { name: ${app}, namespace: shop }
spec: { clusterIP: ${clusterIp}, selector: { app: ${app} }, ports: [{ name: grpc, port: 7070, targetPort: grpc }] }
---`;

/** @param tls how it is called; as it comes where nothing is said */
export const versionsOf = (app: string, tls?: "ISTIO_MUTUAL"): string => `
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: ${app}, namespace: shop }
spec:
  host: ${app}${tls === undefined ? "" : `\n  trafficPolicy: { tls: { mode: ${tls} } }`}
  subsets: [{ name: v1, labels: { version: v1 } }, { name: v2, labels: { version: v2 } }]
---`;

/** The second version for testers, a fault for those who ask for it, and else the first one by its weight. */
export const weights = (app: string, v1: number): string => `
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: ${app}, namespace: shop }
spec:
  hosts: [${app}]
  http:
    - match: [{ headers: { who: { exact: tester } } }]
      route: [{ destination: { host: ${app}, subset: v2 } }]
    - match: [{ headers: { broken: { exact: "yes" } } }]
      fault: { abort: { grpcStatus: RESOURCE_EXHAUSTED, percentage: { value: 100 } } }
      route: [{ destination: { host: ${app}, subset: v1 } }]
    - route:
        - { destination: { host: ${app}, subset: v1 }, weight: ${v1} }
        - { destination: { host: ${app}, subset: v2 }, weight: ${100 - v1} }
---`;

export const strict = (app: string): string => `
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: { name: ${app}, namespace: shop }
spec: { selector: { matchLabels: { app: ${app} } }, mtls: { mode: STRICT } }
---`;

export const policy = (app: string, spec: object): string =>
  JSON.stringify({
    apiVersion: "security.istio.io/v1",
    kind: "AuthorizationPolicy",
    metadata: { name: app, namespace: "shop" },
    spec: { selector: { matchLabels: { app } }, ...spec },
  });

/** An HTTPRoute of a service by a prefix, which gRPC programs do not know as Istio writes it. */
export const prefixRoute = (app: string, prefix: string, to: string): string =>
  JSON.stringify({
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "HTTPRoute",
    metadata: { name: app, namespace: "shop" },
    spec: {
      parentRefs: [{ group: "", kind: "Service", name: app, port: 7070 }],
      rules: [{ matches: [{ path: { type: "PathPrefix", value: prefix } }], backendRefs: [{ name: to, port: 7070 }] }],
    },
  });
