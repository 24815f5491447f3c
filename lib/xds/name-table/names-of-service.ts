import type { NameTable_NameInfoJson } from "../../../gen/istio/networking/nds/v1/nds_pb.ts";
import type { ConfigKey } from "../../base/diagnostic.ts";
import { isIpAddress } from "../../config/values/ip-address.ts";
import { query } from "../../incremental/query.ts";
import { serviceAddresses, unspecifiedAddress } from "../../mesh/hosts/service-address.ts";
import type { NamePerspective } from "../../mesh/views/name-view.ts";
import type { Endpoint, Service } from "../../registry/service.ts";
import { originKeys } from "../provenance.ts";

/** A name and where it leads. */
export interface NamedAddresses {
  readonly host: string;
  readonly info: NameTable_NameInfoJson;
  /** Of one pod behind a headless service, and not of the service. */
  readonly ofPod: boolean;
  readonly from: readonly ConfigKey[];
}

interface Inputs {
  readonly service: Service;
  /** Of a service that may be headless. */
  readonly endpoints: readonly Endpoint[] | undefined;
  readonly seen: NamePerspective;
}

/**
 * The names of a service: its own, and of a headless one those of its pods. None where no address is known: such a name is asked
 * for elsewhere.
 *
 * @see istio 1.30.3 pkg/dns/server/name_table.go, BuildNameTable
 */
export const namesOfService = query(
  "names of a service",
  ({ service, endpoints = [], seen }: Inputs): readonly NamedAddresses[] => {
    const { name, namespace, provider } = service.attributes;
    const from = originKeys(service);
    const named = (host: string, ips: readonly string[], shortname: string, ofPod: boolean): NamedAddresses => {
      const short = provider === "Kubernetes" || ofPod ? { shortname, namespace } : {};
      return { host, info: { ips: [...new Set(ips)], registry: provider, ...short }, ofPod, from };
    };
    const addresses = serviceAddresses(service, seen);
    if (!isHeadless(service, addresses)) {
      // What is left out are ranges.
      const single = addresses.filter(isIpAddress);
      return single.length === 0 ? [] : [named(service.hostname, single, name, false)];
    }
    if (service.resolution !== "Passthrough" || service.ports.length === 0) return [];
    const counted = answering(service, endpoints, seen);
    if (counted.length === 0) return [];
    const pods = podsOf(service.hostname, counted, seen);
    const all = counted.flatMap((endpoint) => endpoint.addresses);
    return [
      ...[...pods].map(([host, pod]) => named(host, pod.ips, pod.shortname, true)),
      named(service.hostname, all, name, false),
    ];
  },
);

/** Without an address of its own: also for a proxy that is of another family than the one that stands for none. */
const isHeadless = (service: Service, addresses: readonly string[]): boolean =>
  addresses.includes(unspecifiedAddress) || (addresses.length === 0 && service.defaultAddress === unspecifiedAddress);

/** The endpoints that a name leads to, one for each address: what is ready, and not behind another network's gateway. */
function answering(
  { attributes }: Service,
  endpoints: readonly Endpoint[],
  { network }: NamePerspective,
): readonly Endpoint[] {
  const byAddress = new Map<string, Endpoint>();
  for (const endpoint of endpoints) {
    const [first] = endpoint.addresses;
    const isReady = attributes.publishNotReadyAddresses || endpoint.health === "Healthy";
    const isNear = endpoint.network === "" || network === "" || endpoint.network === network;
    if (first === undefined || !isReady || !isNear || !endpoint.addresses.every(isIpAddress)) continue;
    if (!byAddress.has(first)) byAddress.set(first, endpoint);
  }
  return [...byAddress.values()];
}

interface PodName {
  /** `<pod>.<service>`. */
  readonly shortname: string;
  readonly ips: readonly string[];
}

/** `<pod>.<service>.<rest of the service's name>`: those of the proxy's own cluster, and of others where it has none of that name. */
function podsOf(
  hostname: string,
  endpoints: readonly Endpoint[],
  { clusterId }: NamePerspective,
): ReadonlyMap<string, PodName> {
  const rest = hostname.slice(hostname.indexOf(".") + 1);
  const own = new Map<string, PodName>();
  const others = new Map<string, PodName>();
  for (const { subDomain, hostName, addresses, locality } of endpoints) {
    if (subDomain === "" || rest === hostname) continue;
    const isOwn = locality.clusterId === "" || clusterId === "" || locality.clusterId === clusterId;
    const pods = isOwn ? own : others;
    const shortname = `${hostName}.${subDomain}`;
    const host = `${shortname}.${rest}`;
    pods.set(host, { shortname, ips: [...(pods.get(host)?.ips ?? []), ...addresses] });
  }
  return new Map([...others, ...own]);
}
