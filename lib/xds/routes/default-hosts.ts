import type { MeshDestinationRule } from "../../mesh/index/destination-rule-index.ts";
import type { Memo } from "../../mesh/memo/memo.ts";
import { step } from "../../mesh/memo/step.ts";
import type { Service } from "../../registry/service.ts";
import { virtualHostName } from "../names.ts";
import { provenanceOf } from "../provenance.ts";
import { defaultOutboundRoute } from "./default-route.ts";
import { serviceHash } from "./hash-policy.ts";
import type { Candidate } from "./host-claims.ts";
import { hostPiece, portSuffix } from "./host-piece.ts";
import { type DomainPerspective, makeDomains, seenAs } from "./service-domains.ts";
import { hashRule, type RuleSource, type TableContext, type TableSettings } from "./table-context.ts";
import type { TableServices } from "./table-services.ts";

/** A host that a service has unless a virtual service claims it. */
export interface DefaultHost {
  readonly hostname: string;
  readonly route: DefaultRoute;
}

/** What the hosts of a table depend on that no virtual service brings. */
export interface DefaultHosts extends RuleSource, Pick<TableContext, "settings" | "domains"> {
  readonly services: TableServices;
  /** Of the table. */
  readonly port: number;
}

/**
 * What each service would have if no virtual service claimed it, in order of host names; what is claimed is not made. Remembered as a whole,
 * because most changes are about other objects.
 */
export const defaultHosts = step(
  "default virtual hosts",
  {
    settings: "identity",
    domains: "identity",
    services: "identity",
    serviceByHostname: "identity",
    destinationRule: "identity",
    port: "value",
  },
  ({ domains, ...table }: DefaultHosts, memo: Memo): readonly DefaultHost[] => {
    const { atHome, abroad } = domains;
    const hosts = hostsSeenBy(memo, { ...table, proxy: abroad });
    if (atHome === abroad) return hosts;
    // Most hosts look alike from all namespaces, which have them as objects in common.
    return hosts.map((host) => {
      const proxy = seenAs(host.route.service, domains);
      return proxy === abroad ? host : { ...host, route: { ...host.route, proxy } };
    });
  },
);

type HostsSeen = Omit<DefaultHosts, "domains"> & Pick<DefaultRoute, "proxy">;

const hostsSeenBy = step(
  "default virtual hosts in one form",
  {
    settings: "identity",
    proxy: "identity",
    services: "identity",
    serviceByHostname: "identity",
    destinationRule: "identity",
    port: "value",
  },
  ({ services, port: tablePort, settings, proxy, ...rules }: HostsSeen): readonly DefaultHost[] => {
    const isOnlyPort = tablePort !== 0;
    const hosts: DefaultHost[] = [];
    for (const { service, httpPorts } of services.sorted) {
      if (service.resolution === "Alias" || httpPorts.length === 0) continue;
      const rule = hashRule(rules, service.hostname);
      const hostname = service.hostname.toLowerCase();
      for (const { port } of httpPorts)
        hosts.push({ hostname, route: { settings, proxy, service, rule, port, isOnlyPort } });
    }
    return hosts;
  },
);

/** What the host of a service is made from. */
interface DefaultRoute {
  readonly settings: TableSettings;
  readonly proxy: DomainPerspective;
  readonly service: Service;
  readonly rule: MeshDestinationRule | undefined;
  readonly port: number;
  /** The table is of this port alone. */
  readonly isOnlyPort: boolean;
}

/** Its domains are made for it, and not asked for: few services have a host that a virtual service made with the same. */
export const defaultHost = step(
  "default virtual host",
  {
    settings: "identity",
    proxy: "identity",
    service: "identity",
    rule: "identity",
    port: "value",
    isOnlyPort: "value",
  },
  ({ settings, proxy, service, rule, port, isOnlyPort }: DefaultRoute): Candidate => {
    const hostname = service.hostname.toLowerCase();
    const name = virtualHostName(hostname, port);
    const domains = makeDomains({ proxy, service, portSuffix: portSuffix(port, isOnlyPort, settings) });
    const hash = rule && serviceHash(rule.config.spec, port);
    const route = defaultOutboundRoute(hostname, port, hash, settings.defaultRetry);
    const piece = hostPiece(name, domains.all, [route], provenanceOf(service, rule), settings.headers);
    return { piece, claim: { name, domains, port, hostname: "" }, origin: undefined };
  },
);
