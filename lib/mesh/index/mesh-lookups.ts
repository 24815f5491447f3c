import type { MeshConfig } from "../../config/kinds/mesh-config.ts";
import type { MeshNetworks } from "../../config/kinds/mesh-networks.ts";
import { type RegistryState, serviceKey } from "../../registry/registry-state.ts";
import type { Endpoint, Service } from "../../registry/service.ts";
import { lazily, remembered } from "../memo/lazy.ts";
import type { Memo } from "../memo/memo.ts";
import { step } from "../memo/step.ts";
import type { MeshLookups, ServiceLookups } from "../views/views.ts";
import type { NetworkIndex } from "./network-index.ts";
import type { PeerAuthenticationIndex } from "./peer-authentication.ts";
import { clusterLocalHosts, type ServiceIndex, serviceAccountsOf } from "./service-index.ts";

interface ServiceLookupInputs {
  readonly services: ServiceIndex;
  readonly meshConfig: MeshConfig;
  readonly meshNetworks: MeshNetworks;
  readonly domain: string;
}

/** Answers that neither endpoints nor policies can change. */
export const serviceLookups = step(
  "service lookups",
  { services: "identity", meshConfig: "identity", meshNetworks: "identity", domain: "value" },
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
  readonly meshConfig: MeshConfig;
  readonly domain: string;
  readonly peerAuthentication: PeerAuthenticationIndex;
  readonly networks: NetworkIndex;
}

/** Answers that depend on no proxy. */
export const meshLookups = step(
  "mesh lookups",
  {
    general: "identity",
    services: "identity",
    endpoints: "identity",
    meshConfig: "identity",
    domain: "value",
    peerAuthentication: "identity",
    networks: "identity",
  },
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
    };
  },
);

/** Every generator asks for the endpoints of every service, after every change of some: the keys stay. */
const keysOfServices = step(
  "keys of services",
  { services: "identity" },
  (_: Pick<MeshLookupInputs, "services">): ((service: Service) => string) => remembered(serviceKey),
);

const noEndpoints: readonly [] = [];

const clusterLocality = step(
  "cluster locality",
  { meshConfig: "identity", domain: "value" },
  ({ meshConfig, domain }: Pick<MeshLookupInputs, "meshConfig" | "domain">): MeshLookups["isClusterLocal"] => {
    const clusterLocal = lazily(() => clusterLocalHosts(meshConfig, domain));
    return (service) => clusterLocal()(service.hostname);
  },
);

interface AccountInputs {
  readonly services: ServiceIndex;
  readonly aliases: MeshConfig["trustDomainAliases"];
}

/** For one list of endpoints a service has one answer: made for the first proxy that asks. */
const accountLookup = step(
  "account lookup",
  { services: "identity", aliases: "identity" },
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
