import fc from "fast-check";
import type { Config } from "../../lib/config/config.ts";
import type { NamedProxy } from "../../lib/mesh/proxy-from-node.ts";
import type { World } from "../../lib/mesh/world.ts";
import { serviceKey } from "../../lib/registry/registry-state.ts";
import type { Endpoint, Service, ServiceTarget } from "../../lib/registry/service.ts";
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

const services: fc.Arbitrary<Service> = fc
  .record({
    name,
    namespace: own,
    exportTo,
    ports: fc.uniqueArray(fc.constantFrom(80, 443, 9090), { minLength: 1, maxLength: 2 }),
    app: label,
    headless: fc.boolean(),
    age,
  })
  .map(({ name: of, namespace: at, app, headless, exportTo: to, ...rest }) => {
    const parts: ServiceParts = {
      at: `${of}.${at}.svc.cluster.local@${at}`,
      attributes: { selector: { app }, name: of, objectName: of },
      ...(to === undefined ? {} : { exportTo: to }),
      ...(headless ? { resolution: "Passthrough" as const } : {}),
      ...rest,
    };
    return service(parts);
  });

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

const destination = fc.tuple(host, fc.constantFrom(80, 443)).map(([of, number]) => ({
  destination: { host: of.startsWith("*") ? "a.ns1.svc.cluster.local" : of, port: { number } },
}));

const virtualService = configOf(
  "VirtualService",
  own,
  fc.record({
    hosts: fc.uniqueArray(host, { minLength: 1, maxLength: 2 }),
    gateways: fc.option(fc.constantFrom(["mesh"], ["istio-system/gateway-a"], ["mesh", "istio-system/gateway-a"]), {
      nil: undefined,
    }),
    exportTo,
    http: fc.array(
      fc
        .record({
          match: fc.option(
            fc.constantFrom(
              [{ sourceLabels: { app: "x" } }],
              [{ sourceNamespace: "ns2" }],
              [{ uri: { prefix: "/p" } }],
            ),
            { nil: undefined },
          ),
          route: destination.map((to) => [to]),
        })
        .map(defined),
      { minLength: 1, maxLength: 2 },
    ),
  }),
);

const destinationRule = configOf(
  "DestinationRule",
  namespace,
  fc.record({
    host,
    exportTo,
    workloadSelector: selector,
    subsets: fc.option(fc.constantFrom([{ name: "v1", labels: { version: "v1" } }]), { nil: undefined }),
    trafficPolicy: fc.option(
      fc.constantFrom(
        { outlierDetection: { consecutive5xxErrors: 3 } },
        { loadBalancer: { simple: "RANDOM" } },
        { connectionPool: { tcp: { maxConnections: 7 } } },
      ),
      { nil: undefined },
    ),
  }),
);

const egress = fc.array(
  fc.record({
    hosts: fc.uniqueArray(fc.constantFrom("*/*", "./*", "ns2/*", "ns1/a.ns1.svc.cluster.local"), { minLength: 1 }),
  }),
  { minLength: 1, maxLength: 1 },
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
    rules: fc.constant([{ to: [{ operation: { ports: ["80"] } }] }]),
  }),
);

const gateway = configOf(
  "Gateway",
  fc.constant("istio-system"),
  fc.record({
    selector: fc.constant({ istio: "ingressgateway" }),
    servers: fc.array(
      fc.record({
        port: fc.constantFrom(
          { number: 80, name: "http", protocol: "HTTP" },
          { number: 80, name: "tcp", protocol: "TCP" },
          { number: 8080, name: "more", protocol: "HTTP2" },
        ),
        hosts: fc.constantFrom(["*"], ["web.example.com"], ["ns1/*"]),
      }),
      { minLength: 1, maxLength: 2 },
    ),
  }),
);

const anyConfig = fc.oneof(
  { weight: 3, arbitrary: virtualService },
  { weight: 3, arbitrary: destinationRule },
  sidecarObject,
  peerAuthentication,
  authorizationPolicy,
  gateway,
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
  configs: fc.uniqueArray(anyConfig, { selector: keyOf, maxLength: 10 }),
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
    named
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
