/**
 * A mesh for benchmarks, of the shape that Istio's figures were taken on. Of ten services seven speak HTTP, two gRPC, one bare
 * TCP; two of the HTTP services are split in two versions. Namespaces hold 50 services, services have ten pods.
 */
import type { NamedProxy } from "../named-proxy.ts";
import {
  endpointSlice,
  gateway,
  type MeshObject,
  namespace,
  node,
  type Pod,
  pod,
  service,
  split,
} from "./mesh-objects.ts";

export interface SyntheticMesh {
  /** JSON documents between YAML's markers. */
  readonly text: string;
  /** One sidecar that sees everything, one gateway. */
  readonly named: readonly NamedProxy[];
}

const servicesPerNamespace = 50;
const podsPerService = 10;
/** The nodes of the cluster: pods are dealt out to them in turns. */
const zones = ["north/a", "north/b", "north/c", "south/a", "south/b", "west/a"];

const http = { name: "http", port: 80, targetPort: 8080 };
const grpc = { name: "grpc", port: 9000, targetPort: 9000 };
const tcp = { name: "tcp", port: 7000, targetPort: 7000 };
/** Ten services in a row; a mesh repeats them. */
const row = [
  { port: http, isSplit: true },
  { port: http, isSplit: false },
  { port: grpc, isSplit: false },
  { port: http, isSplit: false },
  { port: http, isSplit: false },
  { port: http, isSplit: true },
  { port: http, isSplit: false },
  { port: grpc, isSplit: false },
  { port: http, isSplit: false },
  { port: tcp, isSplit: false },
];

const system = "istio-system";
const client: Pod = podOf("client", "client-1", namespaceName(0), "10.17.0.2", 0, {});
const edge: Pod = podOf("edge", "edge-1", system, "10.17.0.1", 0, {});

/** The synthetic mesh of so many services; the same number, the same bytes. */
export function syntheticMesh(services: number): SyntheticMesh {
  const teams = Array.from({ length: Math.ceil(services / servicesPerNamespace) }, (_, at) => namespaceName(at));
  const objects: readonly MeshObject[] = [
    ...zones.map((zone, at) => node(nodeName(at), zone)),
    ...teams.map(namespace),
    ...Array.from({ length: services }, (_, at) => serviceObjects(at)).flat(),
    ...behind("edge", system, "10.16.0.1", http, [edge]),
    gateway("edge", system, { app: "edge" }),
    pod(client),
  ];
  return {
    text: `${objects.map((object) => JSON.stringify(object)).join("\n---\n")}\n`,
    named: [named(client, "sidecar"), named(edge, "router")],
  };
}

/** Of the service with this number, everything. */
function serviceObjects(at: number): readonly MeshObject[] {
  const { port = http, isSplit = false } = row[at % row.length] ?? {};
  const name = `app-${at}`;
  const team = namespaceName(Math.floor(at / servicesPerNamespace));
  const pods = Array.from({ length: podsPerService }, (_, index) => {
    const number = at * podsPerService + index;
    const version = index < podsPerService / 2 ? "v1" : "v2";
    return podOf(name, `${name}-${index}`, team, address("10.64.0.0", number), number, { version });
  });
  const routing = isSplit ? split(name, team, `${system}/edge`) : [];
  return [...behind(name, team, address("10.32.0.0", at), port, pods), ...routing];
}

/** A service with the pods that answer for it. */
function behind(
  name: string,
  inNamespace: string,
  clusterIP: string,
  port: typeof http,
  pods: readonly Pod[],
): readonly MeshObject[] {
  return [
    service(name, inNamespace, clusterIP, port),
    ...pods.map((each) => pod(each)),
    endpointSlice(name, inNamespace, port, pods),
  ];
}

function podOf(
  app: string,
  name: string,
  inNamespace: string,
  ip: string,
  number: number,
  more: Readonly<Record<string, string>>,
): Pod {
  return {
    name,
    namespace: inNamespace,
    ip,
    node: nodeName(number % zones.length),
    account: app,
    labels: { app, ...more },
  };
}

function named({ name, namespace: inNamespace, ip, labels, account }: Pod, type: "sidecar" | "router"): NamedProxy {
  return { name, type, ip, namespace: inNamespace, labels, serviceAccount: account };
}

/** The address so many places after another, both IPv4. */
function address(first: string, places: number): string {
  const number = first.split(".").reduce((sum, part) => sum * 256 + Number(part), 0) + places;
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 255).join(".");
}

export function namespaceName(at: number): string {
  return `team-${at}`;
}

function nodeName(at: number): string {
  return `node-${at}`;
}
