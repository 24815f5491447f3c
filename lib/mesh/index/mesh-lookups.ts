import type { MeshNetworks } from "../../config/kinds/mesh-networks.ts";
import { lazily, remembered } from "../../incremental/lazy.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { type RegistryState, serviceKey } from "../../registry/changes/registry-state.ts";
import type { Endpoint, Service } from "../../registry/service.ts";
import type { MeshSettings } from "../mesh-settings.ts";
import type { MeshLookups, ServiceLookups } from "../views/views.ts";
import type { NetworkIndex } from "./network-index.ts";
import type { PeerAuthenticationIndex } from "./peer-authentication.ts";
import { clusterLocalHosts, type ServiceIndex, serviceAccountsOf } from "./service-index.ts";

interface ServiceLookupInputs {
  readonly services: ServiceIndex;
  readonly meshConfig: MeshSettings;
  readonly meshNetworks: MeshNetworks;
  readonly domain: string;
}

/** Answers that neither endpoints nor policies can change. */
export const serviceLookups = query(
  "service lookups",
  ({ services, meshConfig, meshNetworks, domain }: ServiceLookupInputs): ServiceLookups => ({
    mesh: meshConfig,
    domain,
    meshNetworks,
    serviceByHostname: services.visibleService,
    servicesOfHost: (hostname) => [...(services.byHostname.get(hostname)?.values() ?? [])],
  }),
);

interface MeshLookupInputs {
  readonly general: ServiceLookups;
  readonly services: ServiceIndex;
  readonly endpoints: RegistryState["endpoints"];
  readonly meshConfig: MeshSettings;
  readonly domain: string;
  readonly peerAuthentication: PeerAuthenticationIndex;
  readonly networks: NetworkIndex;
}

/** Answers that depend on no proxy. */
export const meshLookups = query(
  "mesh lookups",
  (
    { general, services, endpoints, meshConfig, domain, peerAuthentication, networks }: MeshLookupInputs,
    memo: Memo,
  ): MeshLookups => {
    const keyOf = keysOfServices(memo, { services });
    return {
      ...general,
      endpoints: (service) => endpoints.get(keyOf(service)) ?? noEndpoints,
      serviceAccounts: accountLookup(memo, { services, aliases: meshConfig.trustDomainAliases }),
      isClusterLocal: clusterLocality(memo, { meshConfig, domain }),
      serviceMtlsMode: peerAuthentication.serviceMode,
      workloadMtlsMode: peerAuthentication.workloadMode,
      networkGateways: networks.gateways,
      resolvedGateways: networks.resolved,
    };
  },
);

/** Every generator asks for the endpoints of every service, after every change of some: the keys stay. */
const keysOfServices = query(
  "keys of services",
  (_: Pick<MeshLookupInputs, "services">): ((service: Service) => string) => remembered(serviceKey),
);

const noEndpoints: readonly [] = [];

const clusterLocality = query(
  "cluster locality",
  ({ meshConfig, domain }: Pick<MeshLookupInputs, "meshConfig" | "domain">): MeshLookups["isClusterLocal"] => {
    const clusterLocal = lazily(() => clusterLocalHosts(meshConfig, domain));
    return (service) => clusterLocal()(service.hostname);
  },
);

interface AccountInputs {
  readonly services: ServiceIndex;
  readonly aliases: MeshSettings["trustDomainAliases"];
}

/** For one list of endpoints a service has one answer: made for the first proxy that asks. */
const accountLookup = query(
  "account lookup",
  ({ services, aliases }: AccountInputs): MeshLookups["serviceAccounts"] => {
    const known = new Map<Service, { readonly endpoints: readonly Endpoint[]; readonly accounts: readonly string[] }>();
    return (service, endpoints) => {
      const before = known.get(service);
      if (before?.endpoints === endpoints) return before.accounts;
      const accounts = serviceAccountsOf(services.youngest(service), endpoints, aliases);
      known.set(service, { endpoints, accounts });
      return accounts;
    };
  },
);
