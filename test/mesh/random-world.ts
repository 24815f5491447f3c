import fc from "fast-check";
import type { Config } from "../../lib/config/config.ts";
import type { Rule } from "../../lib/config/kinds/authorization-policy.ts";
import type { TrafficPolicy } from "../../lib/config/kinds/destination-rule.ts";
import type { Destination, HTTPMatchRequest, HTTPRoute } from "../../lib/config/kinds/virtual-service.ts";
import type { World } from "../../lib/mesh/world.ts";
import { serviceKey } from "../../lib/registry/changes/registry-state.ts";
import type { Endpoint, Protocol, Service, ServicePort, ServiceTarget } from "../../lib/registry/service.ts";
import { keySet } from "../fuzz/objects/policies.ts";
import type { NamedProxy } from "../named-proxy.ts";
import { config, router, type ServiceParts, service, sidecar, world } from "./parts.ts";

/** A small valid world over few names, so that objects meet: what it is made from, and how. */
export interface RandomWorld {
  readonly services: readonly Service[];
  readonly configs: readonly Config[];
  readonly proxies: readonly NamedProxy[];
}

const namespace = fc.constantFrom("ns1", "ns2", "istio-system");
const own = fc.constantFrom("ns1", "ns2");
const name = fc.constantFrom("a", "b", "c");
const label = fc.constantFrom("x", "y");
const labels = fc.record({ app: label }, { requiredKeys: [] });
const exportTo = fc.option(fc.constantFrom(["."], ["*"], ["ns2"], [".", "ns2"]), { nil: undefined });
const host = fc.oneof(
  fc.tuple(name, own).map(([of, at]) => `${of}.${at}.svc.cluster.local`),
  fc.constantFrom("*.ns1.svc.cluster.local", "*.local", "web.example.com"),
);
const age = fc.nat(3);

const protocols: ReadonlyMap<number, Protocol> = new Map([
  [80, "HTTP"],
  [443, "HTTPS"],
  [7000, "TCP"],
  [9000, "GRPC"],
  [9090, "Unsupported"],
]);

const ports = fc
  .uniqueArray(fc.constantFrom(...protocols.keys()), { minLength: 1, maxLength: 3 })
  .map((numbers) =>
    numbers.map((port): ServicePort => ({ name: `p-${port}`, port, protocol: protocols.get(port) ?? "TCP" })),
  );

const resolution = fc.constantFrom<Service["resolution"]>("ClientSideLB", "ClientSideLB", "Passthrough");

const inner: fc.Arbitrary<Service> = fc
  .record({ name, namespace: own, exportTo, ports, app: label, resolution, address: fc.nat(5), age })
  .map(({ name: of, namespace: at, app, exportTo: to, ports: declared, address, ...rest }) => {
    const parts: ServiceParts = {
      at: `${of}.${at}.svc.cluster.local@${at}`,
      attributes: { selector: { app }, name: of, objectName: of },
      ...(to === undefined ? {} : { exportTo: to }),
      ...rest,
    };
    const defaultAddress = rest.resolution === "Passthrough" ? "0.0.0.0" : `10.0.0.${address + 1}`;
    return { ...service(parts), ports: declared, defaultAddress };
  });

/** A host outside, as a ServiceEntry makes it. */
const outer: fc.Arbitrary<Service> = fc
  .record({
    namespace: own,
    hostname: fc.constantFrom("ext.example.com", "web.example.com"),
    ports,
    resolution: fc.constantFrom<Service["resolution"]>("DNSLB", "DNSRoundRobinLB", "ClientSideLB", "Passthrough"),
    age,
  })
  .map(({ namespace: at, hostname, ports: declared, ...rest }) => {
    const made = service({ at: `${hostname}@${at}`, provider: "External", attributes: { objectName: "ext" }, ...rest });
    return { ...made, ports: declared, defaultAddress: "0.0.0.0", meshExternal: true };
  });

const services = fc.oneof({ weight: 4, arbitrary: inner }, outer);

const defined = <T extends object>(object: T): T =>
  // Optional fields are absent, never undefined: fromEntries cannot say that it keeps the type.
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;

const selector = fc.option(
  labels.map((matchLabels) => ({ matchLabels })),
  { nil: undefined },
);

function configOf<Spec extends object>(
  kind: string,
  at: fc.Arbitrary<string>,
  spec: fc.Arbitrary<Spec>,
): fc.Arbitrary<Config> {
  return fc
    .tuple(at, name, spec, age)
    .map(([where, of, written, old]) => config(kind, `${where}/${kind.toLowerCase()}-${of}`, defined(written), old));
}

const destination: fc.Arbitrary<Destination> = fc
  .tuple(host, fc.constantFrom<Partial<Destination>>({}, { subset: "v1" }), fc.constantFrom(80, 7000))
  .map(([of, subset, number]) => ({
    host: of.startsWith("*") ? "a.ns1.svc.cluster.local" : of,
    ...subset,
    port: { number },
  }));
const routeTo = destination.map((to) => ({ destination: to }));

const action: fc.Arbitrary<Partial<HTTPRoute>> = fc.oneof(
  routeTo.map((to) => ({ route: [to] })),
  fc.tuple(routeTo, routeTo, fc.nat(100)).map(([one, two, weight]) => ({
    route: [
      { ...one, weight },
      { ...two, weight: 100 - weight },
    ],
  })),
  fc.constantFrom<Partial<HTTPRoute>>(
    { redirect: { authority: "other.example.com", redirectCode: 302 } },
    { redirect: { uri: "/there", scheme: "https" } },
    { directResponse: { status: 418, body: { string: "tea" } } },
  ),
);

const routeExtras = fc.constantFrom<Partial<HTTPRoute>>(
  {},
  { timeout: "2s", retries: { attempts: 2, perTryTimeout: "1s", retryOn: "5xx,503" } },
  { fault: { abort: { httpStatus: 500, percentage: { value: 10 } } } },
  { corsPolicy: { allowOrigins: [{ exact: "https://a" }], allowMethods: ["GET"], maxAge: "1s" } },
  { mirror: { host: "b.ns1.svc.cluster.local", port: { number: 80 } }, mirrorPercentage: { value: 5 } },
  { headers: { request: { set: { a: "1" }, remove: ["b"] }, response: { add: { c: "2" } } } },
);

const match = fc.constantFrom<readonly HTTPMatchRequest[] | undefined>(
  undefined,
  [{ sourceLabels: { app: "x" } }],
  [{ sourceNamespace: "ns2" }],
  [{ uri: { prefix: "/p" } }, { uri: { regex: "/r.*" }, ignoreUriCase: true }],
  [{ headers: { h: { exact: "1" } }, withoutHeaders: { g: { prefix: "2" } }, method: { exact: "GET" } }],
  [{ queryParams: { q: { regex: "[0-9]+" } }, port: 80 }],
  [{ gateways: ["mesh"] }],
);

const httpRoute = fc.tuple(match, action, routeExtras).map(([matched, taken, extras]): HTTPRoute => {
  const routes = taken.route !== undefined;
  return { ...(matched === undefined ? {} : { match: matched }), ...taken, ...(routes ? extras : {}) };
});

const tcpRoute = fc.tuple(fc.constantFrom([{ port: 7000 }], [{ sourceLabels: { app: "y" } }], undefined), routeTo);

const virtualService = configOf(
  "VirtualService",
  own,
  fc
    .record({
      hosts: fc.uniqueArray(host, { minLength: 1, maxLength: 2 }),
      gateways: fc.constantFrom(["mesh"], ["istio-system/gateway-a"], ["mesh", "istio-system/gateway-b"], undefined),
      exportTo,
      http: fc.array(httpRoute, { minLength: 1, maxLength: 3 }),
      tcp: fc.option(
        tcpRoute.map(([on, to]) => [{ ...(on === undefined ? {} : { match: on }), route: [to] }]),
        { nil: undefined },
      ),
      tls: fc.option(routeTo, { nil: undefined }),
    })
    .map(({ tls, hosts, ...rest }) => ({
      ...rest,
      hosts,
      tls: tls === undefined ? undefined : [{ match: [{ sniHosts: hosts, port: 443 }], route: [tls] }],
    })),
);

const policy = fc.constantFrom<TrafficPolicy>(
  { outlierDetection: { consecutive5xxErrors: 3, interval: "5s" } },
  { loadBalancer: { simple: "RANDOM" } },
  { loadBalancer: { consistentHash: { httpHeaderName: "x" } } },
  { loadBalancer: { localityLbSetting: { enabled: true, failoverPriority: ["app"] } }, outlierDetection: {} },
  { connectionPool: { tcp: { maxConnections: 7, idleTimeout: "3s" }, http: { h2UpgradePolicy: "UPGRADE" } } },
  { tls: { mode: "SIMPLE", sni: "s.example.com" } },
  { tls: { mode: "ISTIO_MUTUAL" } },
  {
    tls: { mode: "DISABLE" },
    portLevelSettings: [{ port: { number: 80 }, loadBalancer: { simple: "LEAST_REQUEST" } }],
  },
);

const subset = fc
  .record({
    name: fc.constantFrom("v1", "v2"),
    labels: fc.constant({ version: "v1" }),
    trafficPolicy: fc.option(policy, { nil: undefined }),
  })
  .map(defined);

const destinationRule = configOf(
  "DestinationRule",
  namespace,
  fc.record({
    host,
    exportTo,
    workloadSelector: selector,
    subsets: fc.option(fc.uniqueArray(subset, { selector: (of) => of.name, minLength: 1 }), { nil: undefined }),
    trafficPolicy: fc.option(policy, { nil: undefined }),
  }),
);

const egressHosts = fc.uniqueArray(fc.constantFrom("*/*", "./*", "ns2/*", "ns1/a.ns1.svc.cluster.local"), {
  minLength: 1,
});
const egressPort = fc.constantFrom(
  { number: 80, protocol: "HTTP", name: "http" },
  { number: 7000, protocol: "TCP", name: "tcp" },
  { number: 3128, protocol: "HTTP_PROXY", name: "proxy" },
);
const egress = fc
  .tuple(fc.option(fc.tuple(egressPort, egressHosts), { nil: undefined }), egressHosts)
  .map(([first, hosts]) => [...(first === undefined ? [] : [{ port: first[0], hosts: first[1] }]), { hosts }]);

const ingress = fc.constantFrom(
  undefined,
  [{ port: { number: 8080, protocol: "HTTP", name: "http" }, defaultEndpoint: "127.0.0.1:9000" }],
  [{ port: { number: 8081, protocol: "TCP", name: "tcp" }, bind: "10.9.9.9", defaultEndpoint: "unix:///run/s" }],
);

const sidecarObject = configOf(
  "Sidecar",
  namespace,
  fc.record({
    workloadSelector: fc.option(
      labels.map((of) => ({ labels: of })),
      { nil: undefined },
    ),
    egress,
    ingress,
    outboundTrafficPolicy: fc.constantFrom(undefined, { mode: "REGISTRY_ONLY" }, { mode: "ALLOW_ANY" }),
  }),
);

const mode = fc.constantFrom("UNSET", "DISABLE", "PERMISSIVE", "STRICT");
const peerAuthentication = configOf(
  "PeerAuthentication",
  namespace,
  fc.record({ selector, mtls: mode.map((of) => ({ mode: of })) }),
);

const authorizationPolicy = configOf(
  "AuthorizationPolicy",
  namespace,
  fc.record({
    selector,
    action: fc.constantFrom("ALLOW", "DENY"),
    rules: fc.constantFrom<readonly Rule[]>(
      [{ to: [{ operation: { ports: ["80"] } }] }],
      [
        {
          from: [{ source: { namespaces: ["ns1"], notPrincipals: ["*"] } }],
          to: [{ operation: { methods: ["GET"], paths: ["/a*"] } }],
        },
      ],
      [{ when: [{ key: "request.headers[x]", values: ["1"] }] }, {}],
    ),
  }),
);

const origins = fc.constantFrom(
  [{ jwt: { issuer: "one", jwks: keySet } }],
  [{ jwt: { issuer: "two", jwks: keySet, triggerRules: [{ excludedPaths: [{ exact: "/a" }] }] } }],
);
const authenticationPolicy = configOf(
  "Policy",
  own,
  fc.record(
    {
      targets: fc
        .tuple(name, fc.constantFrom({}, { ports: [{ number: 80 }] }))
        .map(([of, at]) => [{ name: of, ...at }]),
      peers: fc.constantFrom([{ mtls: {} }], [{ mtls: { mode: "PERMISSIVE" } }]),
      origins,
      principalBinding: fc.constantFrom("USE_PEER", "USE_ORIGIN"),
    },
    { requiredKeys: [] },
  ),
);

const rbacMode = fc.constantFrom("ON", "ON_WITH_INCLUSION", "ON_WITH_EXCLUSION");
const rbacConfig = configOf(
  "RbacConfig",
  namespace,
  fc
    .tuple(rbacMode, own, host)
    .map(([of, at, service]) => ({ mode: of, inclusion: { namespaces: [at] }, exclusion: { services: [service] } })),
);
const serviceRole = configOf(
  "ServiceRole",
  own,
  fc.tuple(host, label).map(([of, app]) => ({
    rules: [
      { services: [of, "a*"], methods: ["GET"] },
      {
        services: ["*"],
        constraints: [
          { key: "destination.labels[app]", values: [app] },
          { key: "destination.user", values: ["*"] },
        ],
      },
    ],
  })),
);
const serviceRoleBinding = configOf(
  "ServiceRoleBinding",
  own,
  fc
    .tuple(
      name,
      fc.constantFrom(
        { user: "*" },
        { properties: { "request.auth.principal": "one/me" } },
        { groups: ["g"], namespaces: ["ns1"] },
      ),
      fc.constantFrom("ENFORCED", "PERMISSIVE"),
    )
    .map(([of, subject, mode]) => ({
      subjects: [subject],
      mode,
      roleRef: { kind: "ServiceRole", name: `servicerole-${of}` },
    })),
);

const gatewayHosts = fc.constantFrom(["*"], ["web.example.com"], ["ns1/*"], ["./web.example.com", "*.example.com"]);
const plainServer = fc.record({
  port: fc.constantFrom(
    { number: 80, name: "http", protocol: "HTTP" },
    { number: 80, name: "tcp", protocol: "TCP" },
    { number: 8080, name: "more", protocol: "HTTP2" },
  ),
  hosts: gatewayHosts,
});
const redirectingServer = fc.constant({
  port: { number: 80, name: "redirect", protocol: "HTTP" },
  hosts: ["secure.example.com"],
  tls: { httpsRedirect: true },
});
const tlsServer = fc.record({
  port: fc.constantFrom(
    { number: 443, name: "https", protocol: "HTTPS" },
    { number: 8443, name: "tls", protocol: "TLS" },
  ),
  hosts: gatewayHosts,
  tls: fc.constantFrom(
    { mode: "SIMPLE", credentialName: "cert" },
    { mode: "MUTUAL", credentialName: "cert" },
    { mode: "PASSTHROUGH" },
    { mode: "ISTIO_MUTUAL" },
  ),
});

const gateway = configOf(
  "Gateway",
  fc.constant("istio-system"),
  fc.record({
    selector: fc.constant({ istio: "ingressgateway" }),
    servers: fc.array(fc.oneof(plainServer, redirectingServer, tlsServer), { minLength: 1, maxLength: 3 }),
  }),
);

const anyConfig = fc.oneof(
  { weight: 3, arbitrary: virtualService },
  { weight: 3, arbitrary: destinationRule },
  sidecarObject,
  peerAuthentication,
  authorizationPolicy,
  gateway,
  authenticationPolicy,
  rbacConfig,
  serviceRole,
  serviceRoleBinding,
);

const proxies: fc.Arbitrary<readonly NamedProxy[]> = fc
  .array(fc.tuple(own, labels), { minLength: 2, maxLength: 5 })
  .map((found) => [
    ...found.map(([at, of], position) => sidecar(`pod-${position}.${at}`, of, { ip: `10.1.0.${position + 1}` })),
    router("gateway-1.istio-system", { istio: "ingressgateway" }, { ip: "10.2.0.1" }),
  ]);

const keyOf = ({ meta }: Config): string => `${meta.kind}/${meta.namespace}/${meta.name}`;

export const randomWorld: fc.Arbitrary<RandomWorld> = fc.record({
  services: fc.uniqueArray(services, { selector: serviceKey, minLength: 1, maxLength: 6 }),
  configs: fc.uniqueArray(anyConfig, { selector: keyOf, maxLength: 14 }),
  proxies,
});

/** The world that the parts describe; endpoints and targets follow from the services' selectors. */
export function worldOf({ services: all, configs, proxies: named }: RandomWorld, compat: World["compat"]): World {
  const sorted = [...all].sort(
    (a, b) => a.creationTimestampMs - b.creationTimestampMs || (a.hostname < b.hostname ? -1 : 1),
  );
  const backs = (of: Service, proxy: NamedProxy): boolean =>
    of.attributes.namespace === proxy.namespace && of.attributes.selector?.app === proxy.labels?.app;
  const targets = named.map((proxy): readonly [string, readonly ServiceTarget[]] => [
    `${proxy.name}.${proxy.namespace}`,
    sorted
      .filter((of) => backs(of, proxy))
      .flatMap((of) =>
        of.ports.map((servicePort) => ({ service: of, servicePort, targetPort: servicePort.port + 8000 })),
      ),
  ]);
  const endpoints = sorted.map((of): readonly [string, readonly Endpoint[]] => [
    serviceKey(of),
    // A host outside answers for itself.
    of.meshExternal
      ? of.ports.map((port) => outside(of, port.name, port.port))
      : named
          .filter((proxy) => backs(of, proxy))
          .flatMap((proxy) => of.ports.map((port) => endpointOf(proxy, port.name, port.port + 8000))),
  ]);
  return world({
    services: sorted,
    configs,
    proxies: named,
    compat,
    targets: Object.fromEntries(targets),
    endpoints: new Map(endpoints),
  });
}

function outside(of: Service, servicePortName: string, port: number): Endpoint {
  const ip = of.resolution === "ClientSideLB" ? "192.0.2.7" : of.hostname;
  const { namespace: at } = of.attributes;
  const made = endpointOf({ name: "ext", namespace: at, type: "sidecar", ip }, servicePortName, port);
  return { ...made, tlsMode: "disabled", provider: "External", hasHealth: false };
}

function endpointOf(proxy: NamedProxy, servicePortName: string, port: number): Endpoint {
  return {
    addresses: typeof proxy.ip === "string" ? [proxy.ip] : proxy.ip,
    port,
    servicePortName,
    labels: proxy.labels ?? {},
    locality: { label: "", clusterId: "Kubernetes" },
    network: "",
    weight: 0,
    health: "Healthy",
    tlsMode: "istio",
    serviceAccount: "",
    namespace: proxy.namespace,
    workloadName: proxy.name,
    hostName: "",
    subDomain: "",
    nodeName: "",
    hasHealth: true,
    unixPath: "",
    provider: "Kubernetes",
  };
}
