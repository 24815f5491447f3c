/**
 * Envoy's descriptors: what a message may hold. The generators build plain JSON; here it is checked, once per resource.
 * @see platform 2, 3
 */
import {
  createRegistry,
  type DescMessage,
  fromJson,
  type JsonValue,
  type Registry,
  toBinary,
} from "@bufbuild/protobuf";
import { ClusterSchema } from "../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import { ClusterLoadAssignmentSchema } from "../../gen/envoy/config/endpoint/v3/endpoint_pb.ts";
import { ListenerSchema } from "../../gen/envoy/config/listener/v3/listener_pb.ts";
import { RouteConfigurationSchema } from "../../gen/envoy/config/route/v3/route_pb.ts";
import type { Diagnostic } from "../config/diagnostic.ts";
import { descriptorFiles } from "./descriptor-files.ts";
import type { Resource, ResourceType } from "./resource.ts";

const schemas = {
  clusters: ClusterSchema,
  endpoints: ClusterLoadAssignmentSchema,
  listeners: ListenerSchema,
  routes: RouteConfigurationSchema,
} as const satisfies Readonly<Record<ResourceType, DescMessage>>;

/** Every message that a resource can hold, inside an Any at any depth. */
const registry: Registry = createRegistry(...descriptorFiles);

/**
 * A resource in protobuf's binary form, without its type.
 *
 * @returns a diagnostic instead when Envoy's descriptors refuse it: an unknown field, a wrong type, an unknown `@type`
 */
export function encodeBinary(type: ResourceType, resource: Resource): Uint8Array<ArrayBuffer> | Diagnostic {
  const schema = schemas[type];
  try {
    return toBinary(schema, fromJson(schema, toJsonValue(resource.json), { registry }));
  } catch (cause) {
    return refusal(type, resource, cause);
  }
}

/** Why Envoy could not read a resource; undefined when it can. */
export function checkResource(type: ResourceType, resource: Resource): Diagnostic | undefined {
  const result = encodeBinary(type, resource);
  return result instanceof Uint8Array ? undefined : result;
}

/** Generated resources are JSON by their types; a copy makes that visible to the compiler and drops what is undefined. */
const toJsonValue = (json: object): JsonValue => JSON.parse(JSON.stringify(json));

function refusal(type: ResourceType, { name, from }: Resource, cause: unknown): Diagnostic {
  const key = from[0] ?? { kind: "", name: "", namespace: "" };
  return {
    code: "refused-by-envoy",
    severity: "error",
    origin: { key, file: "", line: 0 },
    path: [],
    message: `${name} (${type}) is left out, Envoy could not read it: ${cause instanceof Error ? cause.message : String(cause)}`,
    hint: "if an EnvoyFilter patches it, look there first; else this is an error of Portolan's own",
  };
}
