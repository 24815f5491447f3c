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
import { brokenConstraint, messageOfType } from "./messages.ts";
import { canonicalValue } from "./values/canonical-value.ts";
import { type RefusalChecks, refusedValue } from "./values/refused-values.ts";
import type { ValueProblem } from "./values/value-problem.ts";

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

/**
 * What is wrong with the value of a patch by itself: Istio refuses it, no Envoy takes whatever it is put into, or a part of it has no effect.
 *
 * @param isMerged whether the value is merged into what is there, which may have what it lacks
 * @param expressionProblem why Envoy cannot read a regular expression; undefined: it can
 * @returns nothing for what is patched elsewhere
 */
export function patchProblems(
  applyTo: string,
  value: unknown,
  isMerged: boolean,
  expressionProblem: RefusalChecks["expressionProblem"],
): readonly ValueProblem[] {
  if (!isPatched(applyTo)) return [];
  const schema: DescMessage = patchMessages[applyTo];
  const { json, problems } = canonicalValue(schema, value ?? {});
  if (json === undefined) return problems;
  const broken = brokenConstraint(schema, Object(json), isMerged);
  if (broken !== undefined) return [{ kind: "invalid", hint: "", ...broken }, ...problems];
  const refused = refusedValue(schema, json, { typeOf: messageOfType, expressionProblem });
  if (refused === undefined) return problems;
  const { path, reason, isPassed } = refused;
  return [{ kind: isPassed === true ? "passed" : "invalid", hint: "", path, reason }, ...problems];
}
