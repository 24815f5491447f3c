import { parseClusterName } from "../../lib/xds/names.ts";
import { rdsNames } from "../../lib/xds/rds-names.ts";
import { asJson, isArray, isObject, type Json } from "../conformance/json.ts";
import type { WholeResources } from "../whole-resources.ts";

/**
 * Clusters of bootstraps, which no answer holds, the third one where a mesh asks for Envoy's access log service; and the name of a
 * backend that may not be named, which is nobody's.
 */
const notHeld: ReadonlySet<string> = new Set(["sds-grpc", "portolan", "envoy_accesslog_service", "UnknownService"]);
const clusterFields: ReadonlySet<string> = new Set(["cluster", "clusterName", "collectorCluster"]);

/**
 * What a class's resources name and nobody holds: clusters, route tables and load assignments. Destinations that an
 * operator named and that are not there, or not visible, stay in routes as Istio writes them, so their clusters are left
 * out: Envoy refuses the requests, not the table.
 *
 * @param resources in the shape of a stream
 */
export function dangling(resources: WholeResources): readonly string[] {
  const clusters = new Set(resources.clusters.map(({ name }) => name));
  const tables = new Set(resources.routes.map(({ name }) => name));
  const assignments = new Set(resources.endpoints.map(({ name }) => name));
  const isMissing = (name: string): boolean =>
    !clusters.has(name) && !notHeld.has(name) && parseClusterName(name)?.direction !== "outbound";
  return [
    ...[...resources.listeners, ...resources.routes].flatMap(({ name, json }) =>
      clustersNamed(asJson(json))
        .filter(isMissing)
        .map((cluster) => `${name} names the cluster ${cluster}`),
    ),
    ...resources.listeners.flatMap(({ name, json }) =>
      [...rdsNames([json])]
        .filter((table) => !tables.has(table))
        .map((table) => `${name} names the route table ${table}`),
    ),
    ...resources.clusters.flatMap(({ name, json }) => {
      const cluster = asJson(json);
      if (!isObject(cluster) || cluster.type !== "EDS") return [];
      const source = isObject(cluster.edsClusterConfig) ? cluster.edsClusterConfig.serviceName : undefined;
      const wanted = typeof source === "string" ? source : name;
      return assignments.has(wanted) ? [] : [`${name} names the endpoints ${wanted}`];
    }),
  ];
}

function clustersNamed(value: Json): readonly string[] {
  if (isArray(value)) return value.flatMap(clustersNamed);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    // Metadata and variables of nodes are nobody's reference.
    if (key === "metadata" || key === "filterMetadata") return [];
    if (key === "weightedClusters" && isObject(member) && isArray(member.clusters)) {
      const names = member.clusters.flatMap((part) =>
        isObject(part) && typeof part.name === "string" ? [part.name] : [],
      );
      return [...names, ...clustersNamed(member)];
    }
    return typeof member === "string" && member !== "" && clusterFields.has(key) ? [member] : clustersNamed(member);
  });
}
