import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { MeshDestinationRule } from "../../mesh/index/destination-rule-index.ts";
import type { Service } from "../../registry/service.ts";
import { virtualHostName } from "../names.ts";
import { provenanceOf } from "../provenance.ts";
import { defaultOutboundRoute } from "./actions/default-route.ts";
import { serviceHash } from "./actions/hash-policy.ts";
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
export const defaultHosts = query(
  "default virtual hosts",
  ({ domains, ...table }: DefaultHosts, memo: Memo): readonly DefaultHost[] => {
    const { sameNamespace, otherNamespaces } = domains;
    const hosts = hostsSeenBy(memo, { ...table, proxy: otherNamespaces });
    if (sameNamespace === otherNamespaces) return hosts;
    // Most hosts look alike from all namespaces, which have them as objects in common.
    return hosts.map((host) => {
      const proxy = seenAs(host.route.service, domains);
      return proxy === otherNamespaces ? host : { ...host, route: { ...host.route, proxy } };
    });
  },
);

type HostsSeen = Omit<DefaultHosts, "domains"> & Pick<DefaultRoute, "proxy">;

const hostsSeenBy = query(
  "default virtual hosts in one form",
  ({ services, port: tablePort, settings, proxy, ...rules }: HostsSeen): readonly DefaultHost[] => {
    const isOnlyPort = tablePort !== 0;
    const hosts: DefaultHost[] = [];
    for (const { service, httpPorts } of services.sorted) {
      if (service.resolution === "Alias" || httpPorts.length === 0) continue;
      const rule = hashRule(rules, service.hostname);
      const hostname = service.hostname.toLowerCase();
      for (const { port } of httpPorts)
        hosts.push({ hostname, route: { settings, proxy, otherNamespaces: proxy, service, rule, port, isOnlyPort } });
    }
    return hosts;
  },
);

/** What the host of a service is made from. */
interface DefaultRoute {
  readonly settings: TableSettings;
  readonly proxy: DomainPerspective;
  /** How proxies of other namespaces see the service: as this one does, as a rule. */
  readonly otherNamespaces: DomainPerspective;
  readonly service: Service;
  readonly rule: MeshDestinationRule | undefined;
  readonly port: number;
  /** The table is of this port alone. */
  readonly isOnlyPort: boolean;
}

/** Its domains are made for it, and not asked for: few services have a host that a virtual service made with the same. */
export const defaultHost = query(
  "default virtual host",
  ({ settings, proxy, otherNamespaces, service, rule, port, isOnlyPort }: DefaultRoute): Candidate => {
    const hostname = service.hostname.toLowerCase();
    const name = virtualHostName(hostname, port);
    const suffix = portSuffix(port, isOnlyPort, settings);
    const own = makeDomains({ proxy, service, portSuffix: suffix });
    const domains =
      proxy === otherNamespaces
        ? own
        : { ...own, elsewhere: makeDomains({ proxy: otherNamespaces, service, portSuffix: suffix }) };
    const hash = rule && serviceHash(rule.config.spec, port);
    const route = defaultOutboundRoute(hostname, port, hash, settings.defaultRetry);
    const piece = hostPiece(name, domains.all, [route], provenanceOf(service, rule), settings.headers);
    return { piece, claim: { name, domains, port, hostname: "" }, origin: undefined };
  },
);
