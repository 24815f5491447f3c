import type { VirtualHostJson } from "../../gen/envoy/config/route/v3/route_components_pb.ts";
import type { RouteConfigurationJson } from "../../gen/envoy/config/route/v3/route_pb.ts";
import { type Decision, decided, type PassedOver } from "./decision.ts";

export interface ChosenHost {
  readonly decision: Decision;
  /** Absent where none fits: Envoy answers 404. */
  readonly host?: VirtualHostJson;
}

/** A domain that fits, with the host that it is of. */
interface FittingDomain {
  readonly host: VirtualHostJson;
  readonly domain: string;
  /** 0 for the text itself, then a suffix, a prefix, and everything. */
  readonly rank: number;
}

const ranks = ["is the host itself", "is the longest ending", "is the longest beginning", "is for every other host"];

/**
 * Which virtual host of a route table takes a request: by the exact domain, the longest suffix (`*.example.com`), the longest prefix
 * (`example.*`), then `*`. The star stands for at least one character.
 *
 * @param authority without what the connection manager strips
 * @see envoy 1.40.0 source/common/router/config_impl.cc, findVirtualHost
 */
export function chooseVirtualHost(table: RouteConfigurationJson, authority: string): ChosenHost {
  const { name = "", virtualHosts = [], ignorePortInHostMatching } = table;
  const wanted = (ignorePortInHostMatching === true ? withoutPort(authority) : authority).toLowerCase();
  const hosts = virtualHosts
    .flatMap((host) => (host.domains ?? []).flatMap((domain) => fitting(host, domain, wanted)))
    .sort((a, b) => a.rank - b.rank || b.domain.length - a.domain.length);
  const [best] = hosts;
  if (best === undefined) {
    const why = `none of ${virtualHosts.length} virtual hosts has a domain for ${wanted}: Envoy answers 404`;
    return { decision: decided({ step: "virtual host", why }) };
  }
  const passed = hosts
    .filter(({ host }) => host !== best.host)
    .map(({ host, domain }): PassedOver => ({ name: host.name ?? "", why: `domain ${domain} is less exact` }));
  const place = { type: "routes", name, virtualHost: best.host.name ?? "" } as const;
  const why = `domain ${best.domain} ${ranks[best.rank]}`;
  return {
    decision: decided({ step: "virtual host", chosen: best.host.name ?? "", place, why }, passed),
    host: best.host,
  };
}

function fitting(host: VirtualHostJson, written: string, wanted: string): readonly FittingDomain[] {
  const domain = written.toLowerCase();
  const found = (rank: number): readonly FittingDomain[] => [{ host, domain, rank }];
  if (domain === "*") return found(3);
  if (domain.startsWith("*")) return wanted.length >= domain.length && wanted.endsWith(domain.slice(1)) ? found(1) : [];
  if (domain.endsWith("*"))
    return wanted.length >= domain.length && wanted.startsWith(domain.slice(0, -1)) ? found(2) : [];
  return domain === wanted ? found(0) : [];
}

/** `[::1]:80` and `example.com:80` without the port. */
export const withoutPort = (authority: string): string => authority.replace(/:\d+$/, "");
