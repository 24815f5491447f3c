import type { ServedWorkload } from "../index/policy-attachment.ts";

/** What constraints and names of old policies read of a workload. */
export type ConstrainedWorkload = Pick<ServedWorkload, "labels" | "serviceAccount" | "rootNamespace">;

/** A service by the names that policies know it by. */
export interface NamedService {
  readonly hostname: string;
  readonly namespace: string;
  /** Name of the registry's object. */
  readonly name: string;
}

/** A port on which a workload listens, and the service whose policies hold there. */
export interface ServedPort {
  readonly service: NamedService;
  readonly servicePort: { readonly port: number; readonly name: string };
  /** Port of the workload. */
  readonly number: number;
}

/**
 * The ports of a workload, by number. Of several services on one port the oldest counts. A Sidecar's ingress listener that no
 * service leads to belongs to a service named after the Sidecar.
 * @see istio 1.4.10 pilot/pkg/networking/core/v1alpha3/listener.go
 */
export function servedPorts({ targets, sidecar }: Pick<ServedWorkload, "targets" | "sidecar">): readonly ServedPort[] {
  const ports = new Map<number, ServedPort>();
  for (const { service, servicePort, targetPort } of targets) {
    // Datagrams meet no policy, and a unix socket has no port that one could name.
    if (servicePort.protocol === "UDP" || targetPort === 0 || ports.has(targetPort)) continue;
    const { namespace, name } = service.attributes;
    ports.set(targetPort, {
      service: { hostname: service.hostname, namespace, name },
      servicePort,
      number: targetPort,
    });
  }
  for (const { port } of sidecar?.spec.ingress ?? []) {
    const { number = 0, name = "" } = port;
    if (sidecar === undefined || number === 0 || ports.has(number)) continue;
    const { namespace, name: sidecarName } = sidecar.meta;
    const service = { hostname: `${sidecarName}.${namespace}`, namespace, name: sidecarName };
    ports.set(number, { service, servicePort: { port: number, name }, number });
  }
  return [...ports.values()].sort((a, b) => a.number - b.number);
}
