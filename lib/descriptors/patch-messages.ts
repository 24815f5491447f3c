import type { DescMessage } from "@bufbuild/protobuf";
import { ClusterSchema } from "../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import { TypedExtensionConfigSchema } from "../../gen/envoy/config/core/v3/extension_pb.ts";
import {
  FilterChainSchema,
  FilterSchema,
  ListenerFilterSchema,
} from "../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import { ListenerSchema } from "../../gen/envoy/config/listener/v3/listener_pb.ts";
import { RouteSchema, VirtualHostSchema } from "../../gen/envoy/config/route/v3/route_components_pb.ts";
import { RouteConfigurationSchema } from "../../gen/envoy/config/route/v3/route_pb.ts";
import { HttpFilterSchema } from "../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import { brokenConstraint, canonicalMessage, strictProblem } from "./messages.ts";

/** The message that a patch of an EnvoyFilter has as its value, by `applyTo`. A bootstrap is no resource. */
export const patchMessages = {
  LISTENER: ListenerSchema,
  LISTENER_FILTER: ListenerFilterSchema,
  FILTER_CHAIN: FilterChainSchema,
  NETWORK_FILTER: FilterSchema,
  HTTP_FILTER: HttpFilterSchema,
  ROUTE_CONFIGURATION: RouteConfigurationSchema,
  VIRTUAL_HOST: VirtualHostSchema,
  HTTP_ROUTE: RouteSchema,
  CLUSTER: ClusterSchema,
  EXTENSION_CONFIG: TypedExtensionConfigSchema,
} as const;

const isPatched = (applyTo: string): applyTo is keyof typeof patchMessages => Object.hasOwn(patchMessages, applyTo);

export interface PatchReading {
  /** Whether the value is merged into what is there, which may have what it lacks. */
  readonly isMerged: boolean;
  /** Whether names of fields and of enums that are not known are wrong; else they are passed over. */
  readonly isStrict: boolean;
}

/**
 * Why Envoy would refuse whatever the value of a patch is put into: it is no such message, or breaks a constraint of Envoy's API.
 *
 * @returns undefined where nothing is wrong with the value by itself, and for what is patched elsewhere
 */
export function patchProblem(
  applyTo: string,
  value: unknown,
  { isMerged, isStrict }: PatchReading,
): string | undefined {
  if (!isPatched(applyTo)) return undefined;
  const schema: DescMessage = patchMessages[applyTo];
  const read = canonicalMessage(schema, value ?? {});
  const misread = "error" in read ? read.error : isStrict ? strictProblem(schema, value ?? {}) : undefined;
  if (misread !== undefined || "error" in read) return `is no ${schema.typeName}: ${misread}`;
  const broken = brokenConstraint(schema, Object(read.json), isMerged);
  return broken === undefined ? undefined : `would be refused by Envoy: ${broken}`;
}
