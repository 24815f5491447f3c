import { z } from "zod";
import { byCodePoint, type Origin, PortolanError } from "../../base/diagnostic.ts";
import type { Fields } from "../../base/untyped.ts";
import type { OriginObject } from "../origin/origin.ts";
import { type ConsulInstance, instanceOrder } from "./catalog.ts";
import type { ConsulListing } from "./convert.ts";

const texts = z.record(z.string(), z.string());

const storedInstance = z.object({
  node: z.string(),
  nodeId: z.string(),
  nodeAddress: z.string(),
  nodeMeta: texts,
  serviceId: z.string(),
  serviceAddress: z.string(),
  port: z.number().int(),
  tags: z.array(z.string()),
  serviceMeta: texts,
});

const storedService = z.object({ name: z.string(), datacenter: z.string(), instances: z.array(storedInstance) });

/** What of a node's meta says anything about its services (Istio up to 1.0). */
const readOfNodes = ["protocol", "external"] as const;

/** A catalogue as it is stored: one object for each service of a datacentre, with what is read of its instances. */
export function storedServices(instances: readonly ConsulInstance[]): readonly OriginObject[] {
  const byKey = Map.groupBy(instances, ({ datacenter, serviceName }) => `${datacenter}/${serviceName}`);
  return [...byKey]
    .sort(([a], [b]) => byCodePoint(a, b))
    .flatMap(([key, list]) => {
      const [first] = list;
      if (first === undefined) return [];
      const { serviceName: name, datacenter } = first;
      return [{ key, version: "", object: { name, datacenter, instances: [...list].sort(instanceOrder).map(stored) } }];
    });
}

function stored({ datacenter, serviceName, passing, nodeMeta, ...instance }: ConsulInstance): Fields {
  const read = readOfNodes.flatMap((key) => (nodeMeta[key] === undefined ? [] : [[key, nodeMeta[key]] as const]));
  return { ...instance, tags: [...instance.tags], nodeMeta: Object.fromEntries(read) };
}

/**
 * A service as it was stored.
 *
 * @param file where it is stored, as messages name the place
 * @throws PortolanError for what is none
 */
export function readStoredService(object: unknown, file: string): ConsulListing {
  const read = storedService.safeParse(object);
  if (!read.success)
    throw new PortolanError(`${file} holds what is no service of Consul; its collector has to fill it again`);
  const { name, datacenter, instances } = read.data;
  const origin: Origin = { key: { group: "", kind: "ConsulService", name, namespace: datacenter }, file, line: 0 };
  return {
    name,
    origin,
    instances: instances.map((instance) => ({ ...instance, serviceName: name, datacenter, passing: true })),
  };
}
