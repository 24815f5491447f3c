import { fromJson, toBinary } from "@bufbuild/protobuf";
import { ClusterSchema } from "../../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import { hashOf } from "../../../lib/base/blob.ts";
import type { CompiledResource, CompiledWorld } from "../../../lib/snapshot/compiled.ts";
import { typeUrlOf } from "../../../lib/snapshot/resource-type.ts";
import { worldOf } from "../../snapshot/worlds.ts";

function cluster(name: string, altStatName: string): CompiledResource {
  const json = { name, altStatName };
  const text = JSON.stringify({ "@type": typeUrlOf("clusters"), ...json });
  const binary = toBinary(ClusterSchema, fromJson(ClusterSchema, json));
  return { name, text, version: hashOf(text), from: [], binary };
}

/**
 * A class `web` of real clusters, in JSON and in binary, and nothing else.
 *
 * @param stats by the cluster's name, what it is called in statistics
 */
export function clusterWorld(stats: Readonly<Record<string, string>>): CompiledWorld {
  const empty = worldOf({ web: {} });
  const clusters = Object.entries(stats).map(([name, stat]) => cluster(name, stat));
  const shape = { clusters: [clusters], endpoints: [], listeners: [], routes: [] };
  return { ...empty, classes: [{ id: "web", stream: shape, poll: shape }] };
}
