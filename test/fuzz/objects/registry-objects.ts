import type { Dice } from "./dice.ts";
import {
  duration,
  exportTo,
  externalHosts,
  type Manifest,
  manifest,
  ports,
  protocols,
  serviceNames,
  subsetNames,
  workloadNamespaces,
} from "./vocabulary.ts";

const localities = ["r1/z1/s1", "r1/z2", "r2/z1", ""] as const;

/** A service with its workloads: Service, Pods and EndpointSlices that belong together. */
export function randomApplication(dice: Dice, name: string, namespace: string, index: number): readonly Manifest[] {
  const servicePorts = dice.some(ports, 1, 3).map((port) => randomServicePort(dice, port));
  const kind = dice.int(10);
  const service = (spec: object): Manifest =>
    manifest(
      dice,
      ["v1", "Service"],
      [namespace, name],
      { spec: { ports: servicePorts, ...spec } },
      serviceNotes(dice),
    );
  if (kind === 0)
    return [service({ type: "ExternalName", externalName: dice.pick(["db.example.org", "other.example.com"]) })];
  const clusterIp = `10.0.${index}.1`;
  const family = dice.int(8);
  const addresses =
    family === 0
      ? { clusterIP: clusterIp, clusterIPs: [clusterIp, `fd00::${index + 1}`], ipFamilies: ["IPv4", "IPv6"] }
      : { clusterIP: clusterIp };
  const headless = kind <= 2;
  const spec = {
    ...(headless ? { clusterIP: "None" } : addresses),
    ...(dice.chance(92) ? { selector: { app: name } } : {}),
    ...dice.maybe(10, () => ({ trafficDistribution: dice.pick(["PreferClose", "PreferSameNode"]) })),
    ...dice.maybe(10, () => ({ publishNotReadyAddresses: true })),
    ...dice.maybe(10, () => ({ internalTrafficPolicy: "Local" })),
  };
  const pods = Array.from({ length: dice.int(3) + (index === 0 ? 1 : 0) }, (_, at) => ({
    name: `${name}-${at}`,
    ip: family === 1 ? `fd00:1::${index + 1}:${at + 1}` : `10.1.${index}.${at + 1}`,
    version: dice.pick(subsetNames),
  }));
  return [
    service(spec),
    ...pods.map((pod) => randomPod(dice, name, namespace, pod)),
    slice(dice, { name, namespace, pods, servicePorts, addressType: family === 1 ? "IPv6" : "IPv4" }),
  ];
}

function serviceNotes(dice: Dice): object {
  const annotations = {
    ...dice.maybe(10, () => ({ "networking.istio.io/exportTo": dice.pick([".", "*", "ns2", "~"]) })),
    ...dice.maybe(8, () => ({ "networking.istio.io/traffic-distribution": "PreferClose" })),
  };
  return { annotations };
}

interface RandomServicePort {
  readonly name: string;
  readonly port: number;
  readonly targetPort: number;
  readonly protocol: string;
}

function randomServicePort(dice: Dice, port: number): RandomServicePort {
  const protocol = dice.pick(protocols);
  const name = protocol === "" ? `p${port}` : `${protocol}-${port}`;
  return {
    name,
    port,
    targetPort: dice.chance(70) ? port + 8000 : port,
    protocol: protocol === "udp" ? "UDP" : "TCP",
    ...dice.maybe(10, () => ({
      appProtocol: dice.pick(["http", "grpc", "https", "tcp", "kubernetes.io/h2c", "redis"]),
    })),
  };
}

interface RandomPod {
  readonly name: string;
  readonly ip: string;
  readonly version: string;
}

function randomPod(dice: Dice, app: string, namespace: string, pod: RandomPod): Manifest {
  const labels = {
    app,
    version: pod.version,
    ...dice.maybe(85, () => ({ "security.istio.io/tlsMode": "istio" })),
    ...dice.maybe(20, () => ({ "topology.istio.io/network": dice.pick(["net1", "net2"]) })),
    ...dice.maybe(20, () => ({ "istio-locality": dice.pick(["r1.z1.s1", "r2.z1"]) })),
  };
  return manifest(
    dice,
    ["v1", "Pod"],
    [namespace, pod.name],
    {
      spec: { serviceAccountName: app, containers: [{ name: "app", image: "example/app" }] },
      status: {
        phase: "Running",
        podIP: pod.ip,
        podIPs: [{ ip: pod.ip }],
        conditions: [{ type: "Ready", status: dice.chance(85) ? "True" : "False" }],
      },
    },
    { labels },
  );
}

interface SliceParts {
  readonly name: string;
  readonly namespace: string;
  readonly pods: readonly RandomPod[];
  readonly servicePorts: readonly RandomServicePort[];
  readonly addressType: string;
}

function slice(dice: Dice, { name, namespace, pods, servicePorts, addressType }: SliceParts): Manifest {
  return manifest(
    dice,
    ["discovery.k8s.io/v1", "EndpointSlice"],
    [namespace, `${name}-slice`],
    {
      addressType,
      endpoints: pods.map((pod) => ({
        addresses: [pod.ip],
        conditions: { ready: dice.chance(85), serving: true, terminating: dice.chance(5) },
        ...dice.maybe(20, () => ({ zone: "z1", nodeName: "node-1" })),
        targetRef: { kind: "Pod", name: pod.name, namespace },
      })),
      ports: servicePorts.map(({ name: of, targetPort, protocol }) => ({ name: of, port: targetPort, protocol })),
    },
    { labels: { "kubernetes.io/service-name": name } },
  );
}

/** The pods that serve gateways. */
export function gatewayApplication(dice: Dice): readonly Manifest[] {
  const namespace = "istio-system";
  const app = "istio-ingressgateway";
  const labels = { app, istio: "ingressgateway", "security.istio.io/tlsMode": "istio" };
  const servicePorts = [80, 443, 15443, 31400].map((port) => ({
    name: `p-${port}`,
    port,
    targetPort: port < 1000 ? port + 8000 : port,
    protocol: "TCP",
  }));
  const pod = { name: `${app}-0`, ip: "10.2.0.1", version: "v1" };
  return [
    manifest(dice, ["v1", "Service"], [namespace, app], {
      spec: {
        type: "LoadBalancer",
        clusterIP: "10.0.200.1",
        selector: { istio: "ingressgateway" },
        ports: servicePorts,
      },
      status: { loadBalancer: { ingress: [{ ip: "192.0.2.10" }] } },
    }),
    { ...randomPod(dice, app, namespace, pod), metadata: { name: pod.name, namespace, labels } },
    slice(dice, { name: app, namespace, pods: [pod], servicePorts, addressType: "IPv4" }),
  ];
}

export function randomServiceEntry(dice: Dice, name: string): Manifest {
  const resolution = dice.pick(["NONE", "STATIC", "DNS", "DNS_ROUND_ROBIN", "DYNAMIC_DNS"]);
  const sePorts = dice.some(ports, 1, 3).map((number) => ({
    number,
    name: `port-${number}`,
    ...dice.maybe(90, () => ({ protocol: dice.pick(["HTTP", "HTTPS", "TLS", "TCP", "GRPC", "HTTP2", "MONGO"]) })),
    ...dice.maybe(30, () => ({ targetPort: number + 1000 })),
  }));
  const internal = dice.chance(40);
  const hosts = resolution === "DYNAMIC_DNS" ? ["*.example.com"] : dice.some(externalHosts, 1, 2);
  const byLabels = dice.chance(25) && (resolution === "STATIC" || resolution === "DNS");
  const endpoints =
    resolution === "STATIC" || (resolution.startsWith("DNS") && dice.chance(60))
      ? dice.list(1, 3, () => randomEndpoint(dice, resolution, sePorts[0]?.name ?? ""))
      : undefined;
  return manifest(dice, ["networking.istio.io/v1", "ServiceEntry"], [dice.pick(workloadNamespaces), name], {
    spec: {
      hosts,
      ports: sePorts,
      resolution,
      location: internal ? "MESH_INTERNAL" : "MESH_EXTERNAL",
      ...dice.maybe(40, () => ({
        addresses: dice.some(["192.168.1.1", "192.168.2.0/24", "240.240.0.1", "2001:db8::1"], 1, 2),
      })),
      ...(byLabels ? { workloadSelector: { labels: { app: "vm" } } } : endpoints === undefined ? {} : { endpoints }),
      ...exportTo(dice),
      ...dice.maybe(20, () => ({ subjectAltNames: ["spiffe://cluster.local/ns/x/sa/y"] })),
    },
  });
}

function randomEndpoint(dice: Dice, resolution: string, portName: string): object {
  const address =
    resolution === "STATIC"
      ? dice.pick(["172.16.0.1", "172.16.0.2", "2001:db8::2", "unix:///var/run/app.sock"])
      : dice.pick(["one.example.net", "two.example.net", "172.16.0.9"]);
  return {
    address,
    ...(address.startsWith("unix") ? {} : dice.maybe(30, () => ({ ports: { [portName]: 7070 } }))),
    ...dice.maybe(40, () => ({ labels: { version: dice.pick(subsetNames) } })),
    ...dice.maybe(30, () => ({ weight: 1 + dice.int(9) })),
    ...dice.maybe(30, () => ({ locality: dice.pick(localities) })),
    ...dice.maybe(15, () => ({ network: dice.pick(["net1", "net2"]) })),
    ...dice.maybe(30, () => ({ serviceAccount: "vm" })),
  };
}

export function randomWorkloadEntry(dice: Dice, name: string): Manifest {
  return manifest(
    dice,
    ["networking.istio.io/v1", "WorkloadEntry"],
    [dice.pick(workloadNamespaces), name],
    {
      spec: {
        address: dice.pick(["172.17.0.1", "172.17.0.2", "vm.example.net"]),
        labels: { app: dice.pick(["vm", ...serviceNames]), version: dice.pick(subsetNames) },
        ...dice.maybe(30, () => ({ weight: dice.int(10) })),
        ...dice.maybe(30, () => ({ locality: dice.pick(localities) })),
        ...dice.maybe(40, () => ({ serviceAccount: "vm" })),
      },
    },
    dice.maybe(20, () => ({ annotations: { "sidecar.istio.io/status": duration(dice) } })),
  );
}
