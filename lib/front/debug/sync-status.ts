/** The synchronization status of proxies as istioctl reads it. @see istio 1.31.0 istioctl/pkg/writer/pilot/status.go */
import { create, type JsonObject, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ClientConfigSchema, ConfigStatus } from "../../../gen/envoy/service/status/v3/csds_pb.ts";
import { parseNodeId } from "../../base/classifier.ts";
import { isWildcard } from "../../snapshot/resource-type.ts";
import { isServedType, urlOfServed } from "../../streams/served-type.ts";
import type { NodeState, ResourceStanding } from "../nodes/node-state.ts";

/** What `istio.io/debug/syncz` has of each proxy. */
export const clientConfigUrl = "type.googleapis.com/envoy.service.status.v3.ClientConfig";

/** What a proxy has of a type, the worst of its resources. */
interface TypeStatus {
  readonly typeUrl: string;
  readonly status: ConfigStatus;
  readonly accepted: string;
  readonly served: string;
  /** When the proxy first said so, RFC 3339; absent where it has nothing. */
  readonly since?: string;
  readonly error?: string;
}

/** A proxy's `ClientConfig`: its name, cluster and namespace, and one status for each type. */
export function clientConfig(state: NodeState): Uint8Array {
  const metadata: JsonObject = {
    ...(state.cluster === undefined ? {} : { CLUSTER_ID: state.cluster }),
    NAMESPACE: state.name.slice(state.name.lastIndexOf(".") + 1),
  };
  return toBinary(
    ClientConfigSchema,
    create(ClientConfigSchema, {
      node: { id: state.name, metadata },
      genericXdsConfigs: typeStatuses(state).map(({ typeUrl, status, accepted, since, error }) => ({
        typeUrl,
        versionInfo: accepted,
        configStatus: status,
        ...(since === undefined ? {} : { lastUpdated: timestampFromDate(new Date(since)) }),
        ...(error === undefined ? {} : { errorState: { details: error } }),
      })),
    }),
  );
}

/** The same as JSON, for `istioctl experimental internal-debug syncz`. @see istio 1.31.0 pilot/pkg/xds/debug.go, SyncStatus */
export function syncStatus(state: NodeState): object {
  const resources = typeStatuses(state).map(({ typeUrl, accepted, served, since, error }) => [
    typeUrl,
    { sent: served, acked: accepted, sentTime: since, lastError: error },
  ]);
  return {
    cluster_id: state.cluster,
    proxy: state.name,
    proxy_type: parseNodeId(state.node)?.type,
    resources: Object.fromEntries(resources),
  };
}

function typeStatuses({ resources, notSent }: NodeState): readonly TypeStatus[] {
  const byType = Map.groupBy(resources, ({ type }) => type);
  const known = [...byType].flatMap(([type, of]) => (isServedType(type) ? [joined(urlOfServed(type), of)] : []));
  // Of what is asked for by name nothing says whether the proxy wants any.
  const awaited = notSent.filter((type) => isWildcard(type) && type !== "name_tables");
  const missing = awaited.map((type) => ({
    typeUrl: urlOfServed(type),
    status: ConfigStatus.NOT_SENT,
    accepted: "",
    served: "",
  }));
  return [...known, ...missing].sort((a, b) => (a.typeUrl < b.typeUrl ? -1 : 1));
}

const badness = { refused: 3, gone: 2, stale: 1, synced: 0, taken: 0 };
const statuses = {
  refused: ConfigStatus.ERROR,
  gone: ConfigStatus.STALE,
  stale: ConfigStatus.STALE,
  synced: ConfigStatus.SYNCED,
  taken: ConfigStatus.SYNCED,
};

/** One status for all resources of a type that a polling Envoy asks for one by one. */
function joined(typeUrl: string, of: readonly ResourceStanding[]): TypeStatus {
  const worst = of.reduce((a, b) => (badness[a.state] < badness[b.state] ? b : a));
  const since = of.reduce((latest, one) => (latest < one.since ? one.since : latest), "");
  const { state, accepted, served = "", refused } = worst;
  const error = refused === undefined ? undefined : (refused.reason ?? `it keeps ${accepted || "nothing"}`);
  return { typeUrl, status: statuses[state], accepted, served, since, ...(error === undefined ? {} : { error }) };
}
