import type { FilterJson } from "../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { Decision, End, Place } from "../decision.ts";
import { isOfMessage } from "../typed-config.ts";
import { throughAuthorizer } from "./asked-elsewhere.ts";
import { filterDecision } from "./http-filters.ts";
import type { Passage } from "./passage.ts";
import { throughRbac } from "./rbac.ts";
import type { FilterContext, Stream } from "./stream.ts";

/** A connection behind the filters in front of the last one. */
export interface ThroughNetwork {
  readonly decisions: readonly Decision[];
  readonly dependsOn: readonly string[];
  /** Where a filter closes it. */
  readonly end?: End;
  /** The cluster that the server name stands for, where a filter takes it so. */
  readonly cluster?: string;
}

const types = {
  rbac: "envoy.extensions.filters.network.rbac.v3.RBAC",
  authorizer: "envoy.extensions.filters.network.ext_authz.v3.ExtAuthz",
  sniCluster: "envoy.extensions.filters.network.sni_cluster.v3.SniCluster",
} as const;

/** Those that close no connection by themselves. */
const silent =
  /^type\.googleapis\.com\/(?:envoy\.tcp\.metadataexchange\.|envoy\.extensions\.filters\.network\.(?:set_filter_state|sni_dynamic_forward_proxy|mysql_proxy|mongo_proxy|zookeeper_proxy|kafka_broker|postgres_proxy)\.|io\.istio\.|stats\.PluginConfig$)/;

const closed = (why: string): End => ({ kind: "closed", why });

/** @param place of the filter chain */
export function throughNetworkFilters(
  filters: readonly FilterJson[],
  context: FilterContext,
  place: Place,
): ThroughNetwork {
  const decisions: Decision[] = [];
  const dependsOn: string[] = [];
  let cluster: string | undefined;
  let stream: Stream = streamOf(context);
  for (const filter of filters) {
    const { name = "", typedConfig } = filter;
    if (isOfMessage(typedConfig, types.sniCluster)) cluster = context.serverName;
    const passage = context.work.spend() ? passageOf(filter, stream, context) : notFollowed(name);
    if (passage === undefined) continue;
    decisions.push(filterDecision("network filter", name, passage, place, passage.behind));
    stream = passage.next ?? stream;
    if (passage.ends?.part === 1) return { decisions, dependsOn, end: passage.ends.end };
    dependsOn.push(...(passage.ends?.on ?? []));
  }
  return { decisions, dependsOn, ...(cluster === undefined || cluster === "" ? {} : { cluster }) };
}

function streamOf({ request }: FilterContext): Stream {
  const { source } = request;
  return {
    headers: new Map(),
    metadata: new Map(),
    ...(source === undefined ? {} : { remoteAddress: source.address }),
  };
}

function passageOf(
  { name = "", typedConfig }: FilterJson,
  stream: Stream,
  context: FilterContext,
): Passage | undefined {
  if (isOfMessage(typedConfig, types.rbac)) return throughRbac(Object(typedConfig), "network", stream, context, closed);
  if (isOfMessage(typedConfig, types.authorizer))
    return throughAuthorizer(Object(typedConfig), undefined, stream, context, closed);
  const isSilent = isOfMessage(typedConfig, types.sniCluster) || silent.test(typedConfig?.["@type"] ?? "");
  return isSilent ? undefined : notFollowed(name);
}

function notFollowed(name: string): Passage {
  const why = "it is not followed here: it may close the connection";
  return { why, ends: { part: "unknown", on: [`the filter ${name}`], end: { kind: "not known", why } } };
}
