import { identityCluster, restSource } from "../bootstrap.ts";

/** A resource of another type that a resource names. */
export interface Reference {
  readonly type: "endpoints" | "routes";
  readonly name: string;
}

/** Where an Envoy with an agent gets what its resources name. */
export interface SourceForm {
  /** Source of a route table; undefined: the stream that the listener came by. */
  routes?(name: string): Json;
  /** Source of the workload's own certificate and roots, by name; undefined: where the resource says. */
  readonly secrets?: ((name: string) => Json) | undefined;
}

/** What became of a resource. */
export interface Rewritten {
  readonly json: Json;
  readonly references: readonly Reference[];
}

export type Json = Readonly<Record<string, unknown>>;

/**
 * A resource that was made for a stream of a server, for an Envoy whose agent stands in for that stream. What the agent does not have
 * (extension configurations, certificates of gateways) is asked of the control plane's cluster by REST.
 */
export function rewriteSources(resource: Json, form: SourceForm): Rewritten {
  const references: Reference[] = [];

  function rewritten(object: Json, clusterName: string): Json {
    const { edsConfig, configSource, sdsConfig, routeConfigName, serviceName, name } = object;
    if (isAggregated(edsConfig)) {
      references.push({ type: "endpoints", name: textOf(serviceName) || clusterName });
      return object;
    }
    if (isAggregated(configSource) && typeof routeConfigName === "string") {
      references.push({ type: "routes", name: routeConfigName });
      return form.routes === undefined ? object : { ...object, configSource: form.routes(routeConfigName) };
    }
    if (isObject(sdsConfig) && typeof name === "string" && form.secrets !== undefined && isOfWorkload(sdsConfig))
      return { ...object, sdsConfig: form.secrets(name) };
    return object;
  }

  /** @param isOurs whether an aggregated source here is one that the agent answers */
  function walk(value: unknown, clusterName: string, isOurs: boolean): unknown {
    if (Array.isArray(value)) return value.map((item) => walk(item, clusterName, false));
    if (!isObject(value)) return value;
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
  return { json: isObject(json) ? json : resource, references };
}

/** Whether a member is a source of endpoints or of a route table. */
const isAnswered = (key: string, { routeConfigName }: Json): boolean =>
  key === "edsConfig" || (key === "configSource" && typeof routeConfigName === "string");

export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isAggregated = (value: unknown): value is Json => isObject(value) && isObject(value.ads);

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Whether a secret is the workload's own: it comes from the identity agent, or from the folder that `--certificates files` names. */
function isOfWorkload(sdsConfig: Json): boolean {
  const { pathConfigSource, apiConfigSource } = sdsConfig;
  if (isObject(pathConfigSource)) return textOf(pathConfigSource.path).startsWith("/etc/certs/");
  return isObject(apiConfigSource) && JSON.stringify(apiConfigSource).includes(`"clusterName":"${identityCluster}"`);
}
