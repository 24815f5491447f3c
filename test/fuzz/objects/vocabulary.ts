import type { Dice } from "./dice.ts";

/** An object as an operator writes it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string; readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

/** Few names, so that objects meet. */
export const namespaces = ["ns1", "ns2", "istio-system"] as const;
export const workloadNamespaces = ["ns1", "ns2"] as const;
export const serviceNames = ["a", "b", "c", "d"] as const;
export const externalHosts = ["api.example.com", "www.example.com", "db.example.org", "*.example.com"] as const;
export const ports = [80, 443, 8080, 9090, 3306] as const;
export const protocols = [
  "http",
  "http2",
  "grpc",
  "grpc-web",
  "https",
  "tls",
  "tcp",
  "mongo",
  "mysql",
  "redis",
  "udp",
  "",
];
export const subsetNames = ["v1", "v2"] as const;
export const gatewayNames = ["gw-a", "gw-b"] as const;
/** Names of the extension providers that a random mesh may define. */
export const providerNames = {
  authorization: ["authz-http", "authz-grpc"],
  tracing: ["zipkin", "otel-grpc", "otel-http", "datadog", "skywalking", "stackdriver"],
  accessLogs: ["envoy", "file-text", "file-json", "als-http", "als-tcp", "als-otel"],
  metrics: ["prometheus"],
} as const;

const creation = ["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"] as const;

/** An object under one of few names and ages, so that some objects are twins in age. */
export function manifest(
  dice: Dice,
  type: readonly [apiVersion: string, kind: string],
  at: readonly [namespace: string, name: string],
  rest: object,
  metadata: object = {},
): Manifest {
  const [apiVersion, kind] = type;
  const [namespace, name] = at;
  return {
    apiVersion,
    kind,
    metadata: { name, namespace, creationTimestamp: dice.pick(creation), ...metadata },
    ...rest,
  };
}

export const duration = (dice: Dice): string => dice.pick(["1s", "0.5s", "250ms", "1m", "10s", "1h"]);

export const serviceHost = (dice: Dice): string =>
  `${dice.pick(serviceNames)}.${dice.pick(workloadNamespaces)}.svc.cluster.local`;

/** The host of a destination: a service, a short name, something outside, or nothing that exists. */
export function destinationHost(dice: Dice): string {
  const which = dice.int(10);
  if (which < 6) return serviceHost(dice);
  if (which === 6) return dice.pick(serviceNames);
  if (which === 7) return "nowhere.ns1.svc.cluster.local";
  return dice.pick(["api.example.com", "www.example.com", "db.example.org"]);
}

/** A host that a VirtualService or DestinationRule is about; may be a wildcard. */
export function ruleHost(dice: Dice): string {
  return dice.chance(70)
    ? destinationHost(dice)
    : dice.pick(["*", "*.ns1.svc.cluster.local", "*.example.com", "*.com", "web.example.net"]);
}

export const exportTo = (dice: Dice): object =>
  dice.maybe(20, () => ({ exportTo: dice.pick([["."], ["*"], ["ns2"], [".", "ns2"], ["~"]]) }));

export const labels = (dice: Dice): Record<string, string> =>
  dice.pick([{ app: "a" }, { app: "b" }, { version: "v1" }, { app: "c", version: "v2" }]);

/** What the kinds that attach to workloads attach to; nothing means the whole namespace. */
export const policyTarget = (dice: Dice): object =>
  dice.chance(10)
    ? { targetRefs: [dice.pick(targets)] }
    : dice.maybe(40, () => ({
        selector: { matchLabels: dice.chance(30) ? { istio: "ingressgateway" } : labels(dice) },
      }));

const targets = [
  { group: "gateway.networking.k8s.io", kind: "Gateway", name: "gw-a" },
  { kind: "Service", name: "a" },
] as const;

/** One of the forms of StringMatch. */
export const stringMatch = (dice: Dice, base: string): object =>
  dice.pick([{ exact: base }, { prefix: base }, { regex: `${base}.*` }, { regex: `${base}[a-z]+(x|y)?` }]);

const plainHeader = ["x-one", "x-two", "user-agent", "cookie", "x-forwarded-for"] as const;
export const headerName = (dice: Dice): string => dice.pick(plainHeader);

export const tlsFiles = {
  clientCertificate: "/etc/certs/cert.pem",
  privateKey: "/etc/certs/key.pem",
  caCertificates: "/etc/certs/ca.pem",
} as const;
