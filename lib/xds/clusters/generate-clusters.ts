import type { ClusterJson } from "../../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import { byCodePoint, type Stage } from "../../config/diagnostic.ts";
import { mapAgain } from "../../mesh/memo/identity.ts";
import type { Memo } from "../../mesh/memo/memo.ts";
import { sameList } from "../../mesh/memo/same.ts";
import type { ClusterView } from "../../mesh/views/views.ts";
import type { Service } from "../../registry/service.ts";
import { provenanceOf } from "../provenance.ts";
import type { Resource } from "../resource.ts";
import { blackHole, inboundPassthrough, passthrough } from "./built-in-clusters.ts";
import { type ClusterClass, clusterClassOf } from "./cluster-class.ts";
import type { OutboundService } from "./cluster-draft.ts";
import { inboundClusters } from "./inbound-clusters.ts";
import { outboundClusters } from "./outbound-clusters.ts";

type ClusterResource = Resource<ClusterJson>;

/** Stands for "no rule" and "no endpoints needed" among memo keys. */
const nothing = {};

/**
 * The clusters of a class of proxies, sorted by name; names are unique.
 *
 * @see docs/how-istio-does-it/clusters.md#which-clusters
 */
export function generateClusters(view: ClusterView, memo: Memo): Stage<readonly ClusterResource[]> {
  const proxies = clusterClassOf(view, memo);
  const outbound = memo([view.outbound], "outbound clusters", () => ofScope(view, proxies, memo));
  const resources = [...outbound, ...inboundClusters(view, proxies, memo)];
  // As long as every cluster is the one of before, so is their list: what is made from it is not made again.
  const list = sameList(memo, `clusters|${view.key}`, resources);
  return { value: memo([list], "unique clusters", () => uniqueByName(list)), diagnostics: [] };
}

/** Everything but the inbound side. */
function ofScope(view: ClusterView, proxies: ClusterClass, memo: Memo): readonly ClusterResource[] {
  const plain = ofServices(view, proxies, view.scope.services, "default", memo);
  const lists = [plain, builtIn(view, proxies, memo)];
  if (view.gateway?.containsAutoPassthrough === true) {
    const inMesh = view.scope.services.filter((service) => !service.meshExternal);
    lists.push(ofServices(view, proxies, inMesh, "sniDnat", memo));
  }
  return memo(lists, "outbound clusters", () => uniqueByName(lists.flat()));
}

/** Most changes touch a few services, so the others are not even asked what they are made from. */
function ofServices(
  view: ClusterView,
  proxies: ClusterClass,
  services: readonly Service[],
  mode: OutboundService["mode"],
  memo: Memo,
): readonly ClusterResource[] {
  const { lookups } = proxies;
  const context = [proxies.keyWithEndpoints, lookups.services, view.scope.destinationRules];
  const inputs = { context, of: lookups.endpoints };
  const lists = mapAgain(memo, `clusters of services|${mode}|${view.key}`, services, inputs, (service) =>
    // Routes to an alias lead to the cluster of what it stands for.
    service.resolution === "Alias" ? [] : ofService(view, proxies, service, mode, memo),
  );
  return memo([lists], "flat", () => lists.flat());
}

function builtIn(view: ClusterView, proxies: ClusterClass, memo: Memo): readonly ClusterResource[] {
  return memo([proxies.key], "built-in clusters", () => {
    const clusters =
      view.proxy.type === "router"
        ? [blackHole(proxies)]
        : [blackHole(proxies), passthrough(proxies), inboundPassthrough(proxies)];
    return clusters.map((json) => ({ name: json.name ?? "", json, from: [] }));
  });
}

/** Of two clusters of one name the first stays; sorted by name. */
function uniqueByName(resources: readonly ClusterResource[]): readonly ClusterResource[] {
  const sorted = resources.toSorted((a, b) => byCodePoint(a.name, b.name));
  return sorted.filter((resource, at) => resource.name !== sorted[at - 1]?.name);
}

/** Services whose clusters carry endpoints, or look at them for the guess of mTLS. */
function readsEndpoints(source: OutboundService): boolean {
  const { service, rule } = source;
  if (service.resolution !== "ClientSideLB") return true;
  if (rule === undefined) return false;
  const policies = [rule.config.spec.trafficPolicy, ...(rule.config.spec.subsets ?? []).map((s) => s.trafficPolicy)];
  return policies.some((policy) => policy?.loadBalancer?.simple === "PASSTHROUGH");
}

function ofService(
  view: ClusterView,
  proxies: ClusterClass,
  service: Service,
  mode: OutboundService["mode"],
  memo: Memo,
): readonly ClusterResource[] {
  const { lookups } = proxies;
  const rule = view.destinationRule(service);
  const accounts = lookups.serviceAccounts(service);
  const source: OutboundService = { service, rule, accounts, mode };
  const from = readsEndpoints(source)
    ? [proxies.keyWithEndpoints, lookups.endpoints(service), service, rule ?? nothing]
    : [proxies.key, service, rule ?? nothing];
  const inferred = service.ports.map((port) => lookups.serviceMtlsMode(service, port)).join();
  return memo(from, `${mode}|${inferred}|${accounts.join()}`, () => {
    const origins = provenanceOf(service, rule);
    return outboundClusters(source, proxies).map((json) => ({ name: json.name ?? "", json, from: origins }));
  });
}
