import { z } from "zod";
import { byCodePoint } from "../../base/diagnostic.ts";

const texts = z.record(z.string(), z.string()).nullish();

/** An instance as `GET /v1/catalog/service/{name}` answers it, as far as it is read. */
const catalogInstance = z.object({
  ID: z.string().default(""),
  Node: z.string(),
  Address: z.string().default(""),
  Datacenter: z.string().default(""),
  NodeMeta: texts,
  ServiceID: z.string(),
  ServiceName: z.string(),
  ServiceAddress: z.string().default(""),
  ServicePort: z.number().int(),
  ServiceTags: z.array(z.string()).nullish(),
  ServiceMeta: texts,
});

/** An instance as `GET /v1/health/service/{name}` answers it. */
const healthInstance = z.object({
  Node: z.object({
    ID: z.string().default(""),
    Node: z.string(),
    Address: z.string().default(""),
    Datacenter: z.string().default(""),
    Meta: texts,
  }),
  Service: z.object({
    ID: z.string(),
    Service: z.string(),
    Address: z.string().default(""),
    Port: z.number().int(),
    Tags: z.array(z.string()).nullish(),
    Meta: texts,
  }),
  Checks: z.array(z.object({ Status: z.string() })).nullish(),
});

/** One instance of a Consul service, in one form for both calls that tell it. */
export interface ConsulInstance {
  readonly node: string;
  readonly nodeId: string;
  readonly nodeAddress: string;
  readonly datacenter: string;
  readonly nodeMeta: Readonly<Record<string, string>>;
  readonly serviceId: string;
  readonly serviceName: string;
  /** "" where the node's address counts. */
  readonly serviceAddress: string;
  readonly port: number;
  readonly tags: readonly string[];
  readonly serviceMeta: Readonly<Record<string, string>>;
  /** All checks pass; true where nobody asked for checks. */
  readonly passing: boolean;
}

/** By node, then by service id, so that nothing depends on the order of Consul's answer. */
export function instanceOrder(a: ConsulInstance, b: ConsulInstance): number {
  return byCodePoint(a.nodeId, b.nodeId) || byCodePoint(a.node, b.node) || byCodePoint(a.serviceId, b.serviceId);
}

/** Names of all services, sorted. @throws ZodError for anything else */
export function readCatalogServices(body: unknown): readonly string[] {
  return Object.keys(z.record(z.string(), z.array(z.string()).nullish()).parse(body)).sort();
}

/** @throws ZodError for an answer that is none of `catalog/service` */
export function readCatalogService(body: unknown): readonly ConsulInstance[] {
  return z
    .array(catalogInstance)
    .parse(body)
    .map((instance) => ({
      node: instance.Node,
      nodeId: instance.ID,
      nodeAddress: instance.Address,
      datacenter: instance.Datacenter,
      nodeMeta: instance.NodeMeta ?? {},
      serviceId: instance.ServiceID,
      serviceName: instance.ServiceName,
      serviceAddress: instance.ServiceAddress,
      port: instance.ServicePort,
      tags: instance.ServiceTags ?? [],
      serviceMeta: instance.ServiceMeta ?? {},
      passing: true,
    }));
}

/** @throws ZodError for an answer that is none of `health/service` */
export function readHealthService(body: unknown): readonly ConsulInstance[] {
  return z
    .array(healthInstance)
    .parse(body)
    .map(({ Node, Service, Checks }) => ({
      node: Node.Node,
      nodeId: Node.ID,
      nodeAddress: Node.Address,
      datacenter: Node.Datacenter,
      nodeMeta: Node.Meta ?? {},
      serviceId: Service.ID,
      serviceName: Service.Service,
      serviceAddress: Service.Address,
      port: Service.Port,
      tags: Service.Tags ?? [],
      serviceMeta: Service.Meta ?? {},
      passing: (Checks ?? []).every(({ Status }) => Status === "passing"),
    }));
}
