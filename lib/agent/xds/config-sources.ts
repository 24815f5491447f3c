import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isRecord, textOf } from "../../base/classifier.ts";
import { identityCluster, restSource } from "../bootstrap.ts";

/** A resource of another type that a resource names. */
export interface Reference {
  readonly type: "endpoints" | "routes";
  readonly name: string;
}

/** Where an Envoy with an agent gets what its resources name. */
export interface SourceForm {
  /** Source of a route table; undefined: the stream that the listener came by. */
  routes?(name: string): JsonObject;
  /** Source of an extension's configuration that the stream would bring; absent: the control plane's cluster, by REST. */
  readonly extensions?: JsonObject | undefined;
  /** Source of the workload's own certificate and roots, by name; undefined: where the resource says. */
  readonly secrets?: ((name: string) => JsonObject) | undefined;
}

/** What became of a resource. */
export interface Rewritten {
  readonly json: JsonObject;
  readonly references: readonly Reference[];
}

/**
 * A resource that was made for a stream of a server, for an Envoy whose agent stands in for that stream. What the agent does not have
 * (certificates of gateways) is asked of the control plane's cluster by REST.
 */
export function rewriteSources(resource: JsonObject, form: SourceForm): Rewritten {
  const references: Reference[] = [];

  function rewritten(object: JsonObject, clusterName: string): JsonObject {
    const { edsConfig, configSource, configDiscovery, sdsConfig, routeConfigName, serviceName, name } = object;
    if (form.extensions !== undefined && isRecord(configDiscovery) && isAggregated(configDiscovery.configSource))
      return { ...object, configDiscovery: { ...configDiscovery, configSource: form.extensions } };
    if (isAggregated(edsConfig)) {
      references.push({ type: "endpoints", name: textOf(serviceName) || clusterName });
      return object;
    }
    if (isAggregated(configSource) && typeof routeConfigName === "string") {
      references.push({ type: "routes", name: routeConfigName });
      return form.routes === undefined ? object : { ...object, configSource: form.routes(routeConfigName) };
    }
    if (isRecord(sdsConfig) && typeof name === "string" && form.secrets !== undefined && isOfWorkload(sdsConfig))
      return { ...object, sdsConfig: form.secrets(name) };
    return object;
  }

  /** @param isOurs whether an aggregated source here is one that the agent answers */
  function walk(value: JsonValue, clusterName: string, isOurs: boolean): JsonValue {
    if (Array.isArray(value)) return value.map((item) => walk(item, clusterName, false));
    if (!isRecord(value)) return value;
    if (isAggregated(value)) return isOurs ? value : restSource();
    const own = rewritten(value, clusterName);
    return Object.fromEntries(
      Object.entries(own).map(([key, member]) => [
        key,
        walk(member, clusterName, own !== value || isAnswered(key, own)),
      ]),
    );
  }

  const json = walk(resource, textOf(resource.name), false);
  return { json: isRecord(json) ? json : resource, references };
}

/** Whether a member is a source of endpoints or of a route table. */
const isAnswered = (key: string, { routeConfigName }: JsonObject): boolean =>
  key === "edsConfig" || (key === "configSource" && typeof routeConfigName === "string");

const isAggregated = (value: JsonValue | undefined): boolean => isRecord(value) && isRecord(value.ads);

/** Whether a secret is the workload's own: it comes from the identity agent, or from the folder that `--certificates files` names. */
function isOfWorkload(sdsConfig: JsonObject): boolean {
  const { pathConfigSource, apiConfigSource } = sdsConfig;
  if (isRecord(pathConfigSource)) return textOf(pathConfigSource.path).startsWith("/etc/certs/");
  return isRecord(apiConfigSource) && JSON.stringify(apiConfigSource).includes(`"clusterName":"${identityCluster}"`);
}
