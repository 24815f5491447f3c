import type { SourceFile } from "../lib/config/folder/directory.ts";
import { endpointSlice, type MeshObject, namespace, pod, service } from "./bench/mesh-objects.ts";

/** Where a service of a wide mesh has its only endpoint. */
export interface WideEndpoint {
  readonly ip: string;
  readonly port: number;
}

/** The namespace of all that a wide mesh has. */
export const wideNamespace = "wide";

/** Host of a service of a wide mesh. */
export const wideHost = (at: number): string => `app-${at}.${wideNamespace}.svc.cluster.local`;

/** A port whose name sorts before "80": its short table stands before the long one. */
export const shortPort = 25_180;

const portOf = (port: number) => ({ name: "http", port, targetPort: port });

/**
 * A mesh whose route table for port 80 names every service, and is long from 300 services on: one namespace, one endpoint for each
 * service, one pod with a sidecar (`client-1`) that sees all of them, and one service on another port.
 *
 * @param endpointOf of the service with this number
 */
export function wideMesh(
  services: number,
  endpointOf = (_at: number): WideEndpoint => ({ ip: "10.64.0.1", port: 8080 }),
): SourceFile {
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
    ...Array.from({ length: services }, (_, at) => serviceWith(at, endpointOf(at))).flat(),
  ];
  return { file: "wide.yaml", text: `${objects.map((object) => JSON.stringify(object)).join("\n---\n")}\n` };
}

function serviceWith(at: number, { ip, port }: WideEndpoint): readonly MeshObject[] {
  const name = `app-${at}`;
  const slice = endpointSlice(name, wideNamespace, { ...portOf(80), targetPort: port }, []);
  return [
    service(name, wideNamespace, `10.${32 + (at >> 16)}.${(at >> 8) & 255}.${at & 255}`, portOf(80)),
    { ...slice, endpoints: [{ addresses: [ip], conditions: { ready: true } }] },
  ];
}
