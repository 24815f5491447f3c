import { randomConnectionPool } from "./destination-rules.ts";
import type { Dice } from "./dice.ts";
import {
  gatewayNames,
  labels,
  type Manifest,
  manifest,
  namespaces,
  ports,
  serviceNames,
  workloadNamespaces,
} from "./vocabulary.ts";

export function randomGateway(dice: Dice): Manifest {
  return manifest(
    dice,
    ["networking.istio.io/v1", "Gateway"],
    [dice.chance(80) ? "istio-system" : dice.pick(workloadNamespaces), dice.pick(gatewayNames)],
    {
      spec: {
        ...(dice.chance(90) ? { selector: { istio: "ingressgateway" } } : { selector: labels(dice) }),
        servers: dice.list(1, 3, () => server(dice)),
      },
    },
  );
}

const serverHosts = (dice: Dice): readonly string[] =>
  dice.pick([
    ["*"],
    ["www.example.com"],
    ["*.example.com"],
    ["ns1/*"],
    ["./api.example.com", "*/www.example.com"],
    ["ns2/www.example.com"],
  ]);

function server(dice: Dice): object {
  const common = {
    ...dice.maybe(25, () => ({ name: dice.pick(["one", "two", "three", "four", "five"]) })),
    ...dice.maybe(10, () => ({ bind: dice.pick(["127.0.0.1", "10.2.0.1", "::1"]) })),
    ...dice.maybe(5, () => ({ defaultEndpoint: "127.0.0.1:9999" })),
  };
  const number = dice.pick([80, 443, 8080, 8443, 31400, 15443]);
  const name = `port-${number}-${dice.int(1000)}`;
  const hosts = serverHosts(dice);
  const plain = dice.chance(50);
  if (plain) {
    const protocol = dice.pick(["HTTP", "HTTP2", "GRPC", "TCP", "MONGO", "MYSQL"]);
    const redirects = protocol === "HTTP" ? dice.maybe(25, () => ({ tls: { httpsRedirect: true } })) : {};
    return { port: { number, name, protocol }, hosts, ...redirects, ...common };
  }
  const protocol = dice.pick(["HTTPS", "TLS"]);
  return { port: { number, name, protocol }, hosts, tls: serverTls(dice), ...common };
}

function serverTls(dice: Dice): object {
  const files = { serverCertificate: "/etc/certs/tls.crt", privateKey: "/etc/certs/tls.key" };
  const more = {
    ...dice.maybe(20, () => ({
      minProtocolVersion: "TLSV1_2",
      ...dice.maybe(50, () => ({ maxProtocolVersion: "TLSV1_3" })),
    })),
    ...dice.maybe(5, () => ({ maxProtocolVersion: "TLSV1_2" })),
    ...dice.maybe(20, () => ({
      cipherSuites: dice.some(["ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-AES128-GCM-SHA256", "AES128-SHA"], 1, 3),
    })),
    ...dice.maybe(20, () => ({ subjectAltNames: ["client.example.com", "spiffe://td/ns/x/sa/y"] })),
    ...dice.maybe(10, () => ({ verifyCertificateHash: ["a".repeat(64)] })),
    ...dice.maybe(10, () => ({ verifyCertificateSpki: ["NvqYIYSbgK2vCJpQhObf77vv+bQWtc5ek5RIOwPiC9A="] })),
    ...dice.maybe(5, () => ({ httpsRedirect: true })),
  };
  return dice.pick([
    { mode: "PASSTHROUGH" },
    { mode: "AUTO_PASSTHROUGH" },
    { mode: "ISTIO_MUTUAL", ...more },
    { mode: "SIMPLE", credentialName: "web", ...more },
    { mode: "SIMPLE", credentialNames: ["web-rsa", "web-ecdsa"], ...more },
    { mode: "SIMPLE", ...files, ...more },
    { mode: "SIMPLE", tlsCertificates: [files] },
    { mode: "MUTUAL", credentialName: "web", ...more },
    { mode: "MUTUAL", credentialName: "web", caCertCredentialName: "web-ca", ...more },
    { mode: "SIMPLE", credentialName: "gateway://ns1/web", ...more },
    { mode: "MUTUAL", credentialName: "web", caCrl: "/etc/certs/crl.pem" },
    { mode: "MUTUAL", credentialNames: ["web-rsa", "web-ecdsa"], caCertCredentialName: "web-ca", ...more },
    { mode: "MUTUAL", ...files, caCertificates: "/etc/certs/ca.crt", ...more },
    { mode: "OPTIONAL_MUTUAL", ...files, caCertificates: "/etc/certs/ca.crt", ...more },
    { mode: "MUTUAL", tlsCertificates: [files], caCertificates: "/etc/certs/ca.crt", ...more },
    { mode: "MUTUAL", ...files, caCertificates: "/etc/certs/ca.crt", caCrl: "/etc/certs/crl.pem" },
    { mode: "OPTIONAL_MUTUAL", credentialName: "web", ...more },
  ]);
}

export function randomSidecar(dice: Dice): Manifest {
  const selected = dice.chance(50);
  const namespace = selected ? dice.pick(workloadNamespaces) : dice.pick(namespaces);
  return manifest(dice, ["networking.istio.io/v1", "Sidecar"], [namespace, selected ? "selected" : "default"], {
    spec: {
      ...(selected ? { workloadSelector: { labels: labels(dice) } } : {}),
      ...(selected ? dice.maybe(60, () => ({ ingress: ingressListeners(dice) })) : {}),
      ...dice.maybe(85, () => ({ egress: egressListeners(dice) })),
      ...dice.maybe(30, () => ({ outboundTrafficPolicy: outboundTrafficPolicy(dice) })),
      ...dice.maybe(20, () => ({ inboundConnectionPool: randomConnectionPool(dice) })),
    },
  });
}

const outboundTrafficPolicy = (dice: Dice): object =>
  dice.pick([
    { mode: "REGISTRY_ONLY" },
    { mode: "ALLOW_ANY" },
    { mode: "ALLOW_ANY", egressProxy: { host: "a.ns1.svc.cluster.local", port: { number: 80 } } },
  ]);

const ingressListeners = (dice: Dice): readonly object[] =>
  dice.some([8080, 8443, 9000, 17000], 1, 2).map((number) => ({
    port: { number, protocol: dice.pick(["HTTP", "HTTP2", "GRPC", "TCP", "HTTPS"]), name: `in-${number}` },
    ...dice.maybe(70, () => ({
      defaultEndpoint: dice.pick(["127.0.0.1:8081", "0.0.0.0:8082", "unix:///var/run/in.sock", "[::1]:8083"]),
    })),
    ...dice.maybe(25, () => ({ bind: dice.pick(["0.0.0.0", "127.0.0.1", "172.16.1.1"]) })),
    ...dice.maybe(25, () => ({ captureMode: dice.pick(["DEFAULT", "IPTABLES", "NONE"]) })),
    ...dice.maybe(25, () => ({ tls: ingressTls(dice) })),
    ...dice.maybe(20, () => ({ connectionPool: randomConnectionPool(dice) })),
  }));

const ingressTls = (dice: Dice): object => {
  const files = { serverCertificate: "/c.pem", privateKey: "/k.pem" };
  return dice.pick([
    { mode: "SIMPLE", ...files },
    { mode: "SIMPLE", ...files, minProtocolVersion: "TLSV1_3", cipherSuites: ["ECDHE-ECDSA-AES256-GCM-SHA384"] },
    { mode: "SIMPLE", credentialName: "web" },
    { mode: "MUTUAL", ...files, caCertificates: "/ca.pem", subjectAltNames: ["client.example.com"] },
  ]);
};

const egressHosts = ["*/*", "./*", "ns2/*", "ns1/a.ns1.svc.cluster.local", "*/*.example.com", "~/*"] as const;

function egressListeners(dice: Dice): readonly object[] {
  const listening = dice.some(ports, 0, 2).map((number) => ({
    port: {
      number,
      protocol: dice.pick(["HTTP", "TCP", "HTTPS", "MONGO", "HTTP_PROXY", "GRPC"]),
      name: `out-${number}`,
    },
    ...dice.maybe(25, () => ({ bind: dice.pick(["127.0.0.1", "10.9.9.9"]) })),
    ...dice.maybe(15, () => ({ captureMode: dice.pick(["DEFAULT", "IPTABLES", "NONE"]) })),
    hosts: dice.some(egressHosts, 1, 2),
  }));
  const everything = { hosts: dice.some(egressHosts, 1, 2) };
  return listening.length === 0 || dice.chance(70) ? [...listening, everything] : listening;
}

export function randomIngress(dice: Dice, name: string): Manifest {
  const backend = () => ({
    service: {
      name: dice.pick(serviceNames),
      port: dice.chance(80) ? { number: dice.pick(ports) } : { name: "http-80" },
    },
  });
  const path = () => ({
    pathType: dice.pick(["Exact", "Prefix", "ImplementationSpecific"]),
    path: dice.pick(["/", "/foo", "/foo/", "/bar/baz"]),
    backend: backend(),
  });
  return manifest(
    dice,
    ["networking.k8s.io/v1", "Ingress"],
    [dice.pick(workloadNamespaces), name],
    {
      spec: {
        ...dice.maybe(60, () => ({ ingressClassName: "istio" })),
        ...dice.maybe(30, () => ({ defaultBackend: backend() })),
        ...dice.maybe(40, () => ({ tls: [{ hosts: ["www.example.com"], secretName: "ingress-cert" }] })),
        rules: dice.list(1, 2, () => ({
          ...dice.maybe(70, () => ({ host: dice.pick(["www.example.com", "*.example.com", "other.example.com"]) })),
          http: { paths: dice.list(1, 3, path) },
        })),
      },
    },
    { annotations: dice.maybe(50, () => ({ "kubernetes.io/ingress.class": "istio" })) },
  );
}

export const ingressClass: Manifest = {
  apiVersion: "networking.k8s.io/v1",
  kind: "IngressClass",
  metadata: { name: "istio", namespace: "" },
  spec: { controller: "istio.io/ingress-controller" },
};
