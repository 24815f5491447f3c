import type { SourceFile } from "../lib/config/folder/directory.ts";
import { endpointSlice, type MeshObject, namespace, pod, service } from "./bench/mesh-objects.ts";

/** Where a service of a wide mesh has its only endpoint. */
export interface WideEndpoint {
  readonly ip: string;
  readonly port: number;
}

export interface WideMesh {
  readonly services: number;
  /** Of every service; 80 by default. */
  readonly port?: number;
  /** Of the service with this number. */
  readonly endpointOf?: (at: number) => WideEndpoint;
  /** Gives the client a listener at loopback, on the services' port, that leads to these hosts; absent: it sees all without one. */
  readonly egress?: readonly string[];
}

/** The namespace of all that a wide mesh has. */
export const wideNamespace = "wide";

/** Host of a service of a wide mesh. */
export const wideHost = (at: number): string => `app-${at}.${wideNamespace}.svc.cluster.local`;

/** A port whose name sorts before "80", and before the ports that a machine hands out: its short table stands before the long one. */
export const shortPort = 25_180;

const somewhere: WideEndpoint = { ip: "10.64.0.1", port: 8080 };
const portOf = (port: number) => ({ name: "http", port, targetPort: port });

/**
 * A mesh whose route table for the services' port names every service, and is long from 300 services on: one namespace, one endpoint for
 * each service, one pod with a sidecar (`client-1`) that sees all of them, and one service on another port.
 */
export function wideMesh({ services, port = 80, endpointOf = () => somewhere, egress }: WideMesh): SourceFile {
  const objects: readonly MeshObject[] = [
    namespace(wideNamespace),
    pod({
      name: "client-1",
      namespace: wideNamespace,
      ip: "127.0.0.1",
      node: "node-0",
      account: "client",
      labels: { app: "client" },
    }),
    service("short", wideNamespace, "10.31.0.1", portOf(shortPort)),
    ...(egress === undefined ? [] : [sidecar(port, egress)]),
    ...Array.from({ length: services }, (_, at) => serviceWith(at, port, endpointOf(at))).flat(),
  ];
  return { file: "wide.yaml", text: `${objects.map((object) => JSON.stringify(object)).join("\n---\n")}\n` };
}

function sidecar(port: number, hosts: readonly string[]): MeshObject {
  const listener = (number: number, reached: readonly string[]) => ({
    port: { number, name: "http", protocol: "HTTP" },
    bind: "127.0.0.1",
    captureMode: "NONE",
    hosts: reached,
  });
  return {
    apiVersion: "networking.istio.io/v1",
    kind: "Sidecar",
    metadata: { name: "client", namespace: wideNamespace },
    spec: { egress: [listener(port, hosts), listener(shortPort, [`./short.${wideNamespace}.svc.cluster.local`])] },
  };
}

function serviceWith(at: number, port: number, endpoint: WideEndpoint): readonly MeshObject[] {
  const name = `app-${at}`;
  const slice = endpointSlice(name, wideNamespace, { ...portOf(port), targetPort: endpoint.port }, []);
  return [
    service(name, wideNamespace, `10.${32 + (at >> 16)}.${(at >> 8) & 255}.${at & 255}`, portOf(port)),
    { ...slice, endpoints: [{ addresses: [endpoint.ip], conditions: { ready: true } }] },
  ];
}
