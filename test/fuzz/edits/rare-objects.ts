/** Objects of which random sources have none, or too few of some field: whole where rules want fields together. */
import { type Manifest, serviceNames, tlsFiles } from "../objects/vocabulary.ts";

function written(apiVersion: string, kind: string, specs: readonly object[]): readonly Manifest[] {
  return specs.map((spec, at) => ({ apiVersion, kind, metadata: { name: `rare-${at}`, namespace: "ns1" }, spec }));
}

const legacy = (kind: string, specs: readonly object[]) => written("config.istio.io/v1alpha2", kind, specs);
const networking = (kind: string, specs: readonly object[]) => written("networking.istio.io/v1", kind, specs);
const [first, second] = serviceNames;
const everyPart = { name: first, namespace: "ns1", domain: "svc.cluster.local" };
const attributes = { attributes: { "api.operation": { stringValue: "echo" } } };

const legacyObjects: readonly Manifest[] = [
  ...legacy("RouteRule", [
    {
      destination: { name: first },
      precedence: 2,
      match: {
        source: { name: second, namespace: "ns1", labels: { version: "v1" } },
        request: { headers: { uri: { prefix: "/x" }, "x-one": { exact: "1" }, cookie: { regex: "a.*" } } },
      },
      route: [
        { labels: { version: "v1" }, weight: 60 },
        { labels: { version: "v2" }, weight: 40 },
      ],
      httpReqTimeout: { simpleTimeout: { timeout: "5s", overrideHeaderName: "x-timeout" } },
      httpReqRetries: { simpleRetry: { attempts: 3, perTryTimeout: "1s", overrideHeaderName: "x-retry" } },
      appendHeaders: { "x-added": "1" },
      websocketUpgrade: true,
    },
    {
      destination: { name: first },
      httpFault: {
        delay: { percent: 10, fixedDelay: "2s", overrideHeaderName: "x-delay" },
        abort: { percent: 5, httpStatus: 503, overrideHeaderName: "x-abort" },
      },
      rewrite: { uri: "/new", authority: "new.example.com" },
      mirror: { name: second, namespace: "ns1", labels: { version: "v2" } },
      corsPolicy: {
        allowOrigin: ["*"],
        allowMethods: ["GET"],
        allowHeaders: ["x-a"],
        exposeHeaders: ["x-b"],
        maxAge: "1m",
        allowCredentials: true,
      },
    },
    { destination: { name: second }, redirect: { uri: "/there", authority: "there.example.com" } },
    { destination: everyPart, match: { tcp: { sourceSubnet: ["10.0.0.0/8"], destinationSubnet: ["10.1.0.0/16"] } } },
    {
      destination: { service: "api.example.com" },
      route: [{ destination: { service: "www.example.com" }, weight: 100 }],
    },
  ]),
  ...legacy("IngressRule", [
    {
      destination: { name: first },
      port: 80,
      tlsSecret: "cert",
      precedence: 1,
      match: { request: { headers: { uri: { prefix: "/a" }, authority: { exact: "a.example.com" } } } },
      destinationPort: 80,
    },
    { destination: everyPart, port: 80, destinationPortName: "http-80" },
  ]),
  ...legacy("EgressRule", [
    { destination: { service: "api.example.com" }, ports: [{ port: 80, protocol: "http" }] },
    { destination: { service: "192.168.1.0/24" }, ports: [{ port: 3306, protocol: "tcp" }] },
    { destination: { service: "*.example.com" }, ports: [{ port: 443, protocol: "https" }], useEgressProxy: false },
  ]),
  ...legacy("DestinationPolicy", [
    { destination: { name: first }, loadBalancing: { name: "RANDOM" } },
    {
      destination: { name: first, labels: { version: "v1" } },
      source: { name: second, namespace: "ns1", labels: { version: "v2" } },
      circuitBreaker: {
        simpleCb: {
          maxConnections: 5,
          httpMaxPendingRequests: 6,
          httpMaxRequests: 7,
          httpConsecutiveErrors: 3,
          httpMaxRequestsPerConnection: 8,
          httpMaxEjectionPercent: 50,
          httpMaxRetries: 2,
          sleepWindow: "10s",
          httpDetectionInterval: "5s",
        },
      },
    },
  ]),
  ...legacy("HTTPAPISpec", [
    {
      attributes,
      patterns: [
        { attributes, httpMethod: "POST", uriTemplate: "/echo" },
        { attributes, httpMethod: "GET", regex: "/a.*" },
      ],
      apiKeys: [{ query: "key" }, { header: "x-key" }, { cookie: "key" }],
    },
  ]),
  ...legacy("HTTPAPISpecBinding", [{ services: [{ name: first }], apiSpecs: [{ name: "rare-0", namespace: "ns1" }] }]),
  ...legacy("QuotaSpec", [
    {
      rules: [
        {
          match: [{ clause: { "api.operation": { exact: "echo" } } }, { clause: { "api.operation": { prefix: "e" } } }],
          quotas: [{ quota: "reads", charge: 2 }],
        },
      ],
    },
  ]),
  ...legacy("QuotaSpecBinding", [{ services: [{ name: first }], quotaSpecs: [{ name: "rare-0", namespace: "ns1" }] }]),
];

const agentVariables = [
  ["ISTIO_META_INTERCEPTION_MODE", "TPROXY"],
  ["ISTIO_META_CLUSTER_ID", "Kubernetes"],
  ["ISTIO_META_NETWORK", "net1"],
  ["ISTIO_META_WORKLOAD_NAME", "shop"],
  ["ISTIO_META_ROUTER_MODE", "sni-dnat"],
  ["ISTIO_META_HTTP10", "1"],
  ["ISTIO_META_DNS_CAPTURE", "true"],
  ["ISTIO_META_IDLE_TIMEOUT", "30s"],
  ["ISTIO_META_HTTP_PROXY_PORT", "15009"],
  ["ISTIO_META_UNPRIVILEGED_POD", "true"],
  ["ISTIO_META_REQUESTED_NETWORK_VIEW", "net2"],
  ["ISTIO_META_INBOUND_LISTENER_EXACT_BALANCE", "true"],
  ["ISTIO_META_TLS_CLIENT_ROOT_CERT", "/etc/certs/ca.pem"],
  ["ENVOY_STATUS_PORT", "15021"],
] as const;

const everyClientTls = { mode: "MUTUAL", ...tlsFiles, caCrl: "/etc/certs/crl.pem", subjectAltNames: ["a.example.com"] };
const pool = {
  tcp: {
    maxConnections: 9,
    connectTimeout: "3s",
    tcpKeepalive: { probes: 2, time: "9s", interval: "3s" },
    maxConnectionDuration: "1h",
    idleTimeout: "2m",
  },
  http: {
    http1MaxPendingRequests: 4,
    http2MaxRequests: 40,
    maxRequestsPerConnection: 3,
    maxRetries: 2,
    maxConcurrentStreams: 30,
    idleTimeout: "1m",
    http2KeepAlive: { interval: "10s", timeout: "5s" },
  },
};
const gatewayReference = { group: "gateway.networking.k8s.io", kind: "Gateway", name: "gw-a" };

const networkingObjects: readonly Manifest[] = [
  ...networking("DestinationRule", [
    {
      host: `${first}.ns1.svc.cluster.local`,
      trafficPolicy: {
        connectionPool: pool,
        portLevelSettings: [
          { port: { number: 80 }, connectionPool: pool, tls: everyClientTls },
          {
            port: { number: 8080 },
            loadBalancer: { consistentHash: { minimumRingSize: 100, httpHeaderName: "x-one" } },
          },
        ],
      },
      subsets: [
        { name: "v1", labels: { version: "v1" }, trafficPolicy: { connectionPool: pool, tls: everyClientTls } },
      ],
    },
    {
      host: `${second}.ns1.svc.cluster.local`,
      trafficPolicy: {
        loadBalancer: {
          zoneAwareLbSetting: { enabled: true, minClusterSize: 3, failover: [{ from: "r1", to: "r2" }] },
        },
        outlierDetection: { consecutive5xxErrors: 2 },
        tunnel: { protocol: "CONNECT", targetHost: "t.example.com", targetPort: 443 },
      },
    },
  ]),
  ...networking("Sidecar", [
    {
      ingress: [
        {
          port: { number: 8443, name: "https", protocol: "HTTPS" },
          defaultEndpoint: "127.0.0.1:8080",
          tls: {
            mode: "MUTUAL",
            serverCertificate: "/etc/s.pem",
            privateKey: "/etc/s.key",
            caCertificates: "/etc/ca.pem",
          },
          connectionPool: pool,
        },
      ],
      egress: [{ hosts: ["*/*"] }],
      inboundConnectionPool: pool,
    },
  ]),
  ...networking("WorkloadGroup", [
    {
      template: { labels: { app: "vm" }, locality: "r1/z1", weight: 2, serviceAccount: "vm", ports: { http: 80 } },
      probe: {
        periodSeconds: 3,
        httpGet: { port: 80, host: "a", scheme: "HTTP", httpHeaders: [{ name: "a", value: "b" }] },
      },
    },
    { template: {}, probe: { tcpSocket: { port: 80, host: "a" } } },
    { template: {}, probe: { grpc: { port: 80, service: "a" } } },
    { template: {}, probe: { exec: { command: ["true"] } } },
  ]),
  ...written("networking.istio.io/v1alpha3", "EnvoyFilter", [
    {
      targetRefs: [gatewayReference],
      configPatches: [
        {
          applyTo: "FILTER_CHAIN",
          match: {
            listener: {
              filterChain: {
                sni: "a.example.com",
                applicationProtocols: "h2",
                destinationPort: 8080,
                transportProtocol: "tls",
              },
            },
          },
          patch: { operation: "MERGE", value: { name: "patched" } },
        },
        {
          applyTo: "VIRTUAL_HOST",
          match: {
            routeConfiguration: { gateway: "ns1/gw-a", portName: "http", vhost: { domainName: "www.example.com" } },
          },
          patch: { operation: "MERGE", value: { include_request_attempt_count: true } },
        },
        {
          applyTo: "HTTP_FILTER",
          match: {
            context: "WAYPOINT",
            waypoint: { portNumber: 80, filter: { name: "a", subFilter: { name: "b" } } },
          },
          patch: { operation: "REMOVE" },
        },
        {
          applyTo: "HTTP_ROUTE",
          match: { context: "WAYPOINT", waypoint: { route: { name: "default" } } },
          patch: { operation: "MERGE", value: { name: "patched" } },
        },
      ],
    },
  ]),
];

const targetRefs = [gatewayReference, { group: "", kind: "Service", name: first }];
const targeted = (apiVersion: string, kind: string, spec: object): readonly Manifest[] =>
  written(apiVersion, kind, [
    { ...spec, targetRef: gatewayReference },
    { ...spec, targetRefs },
  ]);

const wasm = { url: "oci://example.com/plugin:v1", imagePullPolicy: "Always", pluginConfig: { a: 1 } };
const policies: readonly Manifest[] = [
  ...targeted("security.istio.io/v1", "AuthorizationPolicy", { action: "DENY", rules: [{}] }),
  ...targeted("security.istio.io/v1", "RequestAuthentication", {
    jwtRules: [{ issuer: "one", jwksUri: "https://www.example.com/jwks" }],
  }),
  ...targeted("telemetry.istio.io/v1", "Telemetry", { accessLogging: [{ disabled: true }] }),
  ...targeted("extensions.istio.io/v1alpha1", "WasmPlugin", wasm),
  ...written("extensions.istio.io/v1alpha1", "TrafficExtension", [
    {
      targetRefs,
      wasm: {
        ...wasm,
        sha256: "a".repeat(64),
        pluginName: "p",
        failStrategy: "FAIL_OPEN",
        type: "HTTP",
        verificationKey: "k",
        vmConfig: {
          env: [
            { name: "A", valueFrom: "HOST" },
            { name: "B", value: "b" },
          ],
        },
      },
    },
  ]),
  ...["Policy", "MeshPolicy"].flatMap((kind) =>
    written("authentication.istio.io/v1alpha1", kind, [
      { peers: [{ jwt: everyToken("one") }], origins: [{ jwt: everyToken("two") }], originIsOptional: true },
    ]).map((policy) => ({ ...policy, metadata: { ...policy.metadata, name: "default" } })),
  ),
];

function everyToken(issuer: string): object {
  const paths = [{ exact: "/a" }, { prefix: "/b" }, { suffix: ".c" }, { regex: "/d.*" }];
  return {
    issuer,
    audiences: ["me"],
    jwksUri: "https://www.example.com/jwks",
    jwtHeaders: ["x-jwt"],
    jwtParams: ["token"],
    triggerRules: [{ includedPaths: paths, excludedPaths: paths }],
  };
}

/** Pods that injection has filled in: all of what their agents tell of themselves. */
const pods: readonly Manifest[] = ["sidecar", "router"].map((type, at) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name: `injected-${type}`,
    namespace: "ns1",
    uid: "7d3c",
    labels: { app: first, version: "v1", istio: type === "router" ? "ingressgateway" : "none" },
    annotations: { "proxy.istio.io/config": '{"concurrency":2}', "resource.opentelemetry.io/service.name": "shop" },
  },
  spec: {
    serviceAccountName: first,
    nodeName: "node-1",
    containers: [
      { name: "app", image: "example/app", ports: [{ name: "http-80", containerPort: 8080, protocol: "TCP" }] },
      {
        name: "istio-proxy",
        image: "docker.io/istio/proxyv2:1.29.1",
        args: ["proxy", type, "--domain", "$(POD_NAMESPACE).svc.cluster.local"],
        resources: { limits: { cpu: "2" } },
        env: [
          { name: "POD_NAMESPACE", valueFrom: { fieldRef: { fieldPath: "metadata.namespace" } } },
          { name: "SERVICE_ACCOUNT", valueFrom: { fieldRef: { fieldPath: "spec.serviceAccountName" } } },
          { name: "HOST_IP", valueFrom: { fieldRef: { fieldPath: "status.hostIP" } } },
          { name: "ISTIO_META_APP", valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } },
          { name: "ISTIO_CPU_LIMIT", valueFrom: { resourceFieldRef: { resource: "limits.cpu", divisor: "1" } } },
          { name: "ISTIO_META_MESH_ID", valueFrom: { configMapKeyRef: { name: "mesh", key: "id" } } },
          { name: "PROXY_CONFIG", value: '{"tracing":{"sampling":10},"gatewayTopology":{"numTrustedProxies":1}}' },
          { name: "ISTIO_METAJSON_LABELS", value: '{"own":"a"}' },
          ...agentVariables.map(([name, value]) => ({ name, value })),
        ],
      },
    ],
    initContainers: [
      { name: "helper", restartPolicy: "Always", ports: [{ name: "side", containerPort: 9, protocol: "TCP" }] },
    ],
  },
  status: {
    phase: "Running",
    hostIP: "10.9.0.1",
    hostIPs: [{ ip: "10.9.0.1" }],
    podIP: `10.1.9.${at + 1}`,
    podIPs: [{ ip: `10.1.9.${at + 1}` }],
    conditions: [{ type: "Ready", status: "True" }],
  },
}));

/** Pods whose programs speak xDS themselves. */
const programs: readonly Manifest[] = ["grpc-agent", "grpc-simple"].map((template, at) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name: template,
    namespace: "ns1",
    labels: { app: first, version: "v1", "security.istio.io/tlsMode": "istio" },
    annotations: { "inject.istio.io/templates": template },
  },
  spec: { serviceAccountName: first, containers: [{ name: "app", image: "example/app" }] },
  status: {
    phase: "Running",
    podIP: `10.1.10.${at + 1}`,
    podIPs: [{ ip: `10.1.10.${at + 1}` }],
    conditions: [{ type: "Ready", status: "True" }],
  },
}));

/** Workloads of each kind, as Git folders hold them: templates, and no pods. */
const workloads: readonly Manifest[] = (
  [
    ["apps/v1", "Deployment"],
    ["apps/v1", "StatefulSet"],
    ["apps/v1", "DaemonSet"],
    ["apps/v1", "ReplicaSet"],
    ["argoproj.io/v1alpha1", "Rollout"],
    ["batch/v1", "Job"],
    ["batch/v1", "CronJob"],
  ] as const
).map(([apiVersion, kind], at) => {
  const labels = { app: at % 2 === 0 ? first : second, version: at % 3 === 0 ? "v1" : "v2" };
  const template = {
    metadata: { labels, annotations: { "proxy.istio.io/config": '{"tracing":{"sampling":5}}' } },
    spec: {
      serviceAccount: first,
      hostNetwork: false,
      containers: [{ name: "app", ports: [{ name: "http-80", containerPort: 8080, protocol: "TCP" }] }],
    },
  };
  const selector = { matchLabels: labels };
  const spec = kind === "CronJob" ? { jobTemplate: { spec: { template } } } : { selector, template };
  return { apiVersion, kind, metadata: { name: `template-${at}`, namespace: "ns1" }, spec };
});

export const rareObjects: readonly Manifest[] = [
  ...legacyObjects,
  ...networkingObjects,
  ...policies,
  ...pods,
  ...programs,
  ...workloads,
];

export const rareMeshConfigs: readonly object[] = [
  {
    defaultConfig: {
      discoveryAddress: "istiod.istio-system:15012",
      tracing: { lightstep: { address: "collector:9411", accessToken: "secret" } },
      privateKeyProvider: { cryptomb: { pollDelay: "1ms", fallback: true } },
    },
    defaultTrafficPolicy: { connectionPool: pool, outlierDetection: { consecutive5xxErrors: 4, interval: "7s" } },
  },
  { defaultConfig: { privateKeyProvider: { qat: { pollDelay: "2ms", fallback: false } } } },
];

export const rareNetworks: readonly object[] = [
  {
    networks: {
      net1: {
        endpoints: [{ fromRegistry: "Kubernetes" }],
        gateways: [
          { address: "192.0.2.1", port: 15443, locality: "r1/z1" },
          { registryServiceName: "istio-ingressgateway.istio-system.svc.cluster.local", port: 15443 },
        ],
      },
      net2: {
        endpoints: [{ fromCidr: "10.1.1.0/24" }, { fromRegistry: "two" }],
        gateways: [{ address: "192.0.2.2", port: 15443 }],
      },
    },
  },
];
