import { z } from "zod";
import { plainAttributes, plainEndpoint, plainService } from "../plain-parts.ts";
import { parseProtocol } from "../protocol.ts";
import type { RegistryContent } from "../registry-content.ts";
import { serviceKey } from "../registry-state.ts";
import type { Endpoint, Service } from "../service.ts";

/**
 * The file form of a memory registry: the one of the v1 conformance set. Services name their ports, instances say
 * which port of which host they are behind.
 */
const registryFile = z.object({
  services: z.array(
    z.object({
      hostname: z.string().min(1),
      address: z.string().default(""),
      ports: z.array(z.object({ name: z.string(), port: z.number().int(), protocol: z.string() })),
      serviceAccounts: z.array(z.string()).default([]),
      externalName: z.string().default(""),
      loadBalancingDisabled: z.boolean().default(false),
    }),
  ),
  instances: z.array(
    z.object({
      hostname: z.string(),
      portName: z.string(),
      address: z.string(),
      port: z.number().int(),
      labels: z.record(z.string(), z.string()).default({}),
      availabilityZone: z.string().default(""),
    }),
  ),
});

type FileService = z.infer<typeof registryFile>["services"][number];
type FileInstance = z.infer<typeof registryFile>["instances"][number];

/** Kubernetes' names say their namespace; others have none to say. */
function namespaceOf(hostname: string): string {
  const [, namespace, svc] = hostname.split(".");
  return svc === "svc" && namespace !== undefined ? namespace : "";
}

function serviceOf(file: FileService, source: string): Service {
  const { hostname, address, externalName } = file;
  const external = externalName !== "";
  return {
    ...plainService,
    attributes: {
      ...plainAttributes,
      provider: "Mock",
      name: hostname.split(".")[0] ?? hostname,
      namespace: namespaceOf(hostname),
      type: external ? "ExternalName" : "",
      objectName: "",
      ...(external ? { externalName } : {}),
    },
    hostname,
    ports: file.ports.map(({ name, port, protocol }) => ({ name, port, protocol: parseProtocol(protocol) })),
    defaultAddress: address || "0.0.0.0",
    resolution: external || file.loadBalancingDisabled ? "Passthrough" : "ClientSideLB",
    meshExternal: external,
    serviceAccounts: [...file.serviceAccounts].sort(),
    origins: [{ key: { kind: "Service", name: hostname, namespace: "" }, file: source, line: 0 }],
  };
}

function endpointOf(file: FileInstance): Endpoint {
  return {
    ...plainEndpoint,
    addresses: [file.address],
    port: file.port,
    servicePortName: file.portName,
    labels: file.labels,
    locality: { label: file.availabilityZone, clusterId: "" },
    tlsMode: "disabled",
    serviceAccount: "",
    namespace: namespaceOf(file.hostname),
    provider: "Mock",
  };
}

/**
 * Reads a registry file: its services in their order, endpoints per service in theirs.
 *
 * @param source name of the file, for origins
 * @throws ZodError for anything but a registry file: it is written by a developer, not by an operator
 */
export function readRegistryFile(body: unknown, source: string): RegistryContent {
  const file = registryFile.parse(body);
  const services = file.services.map((service) => serviceOf(service, source));
  const byHost = Map.groupBy(file.instances, ({ hostname }) => hostname);
  const endpoints = new Map<string, readonly Endpoint[]>();
  for (const service of services) {
    const instances = byHost.get(service.hostname) ?? [];
    if (instances.length > 0) endpoints.set(serviceKey(service), instances.map(endpointOf));
  }
  return { provider: "Mock", services, endpoints };
}
