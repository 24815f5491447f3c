import { byCodePoint } from "../base/diagnostic.ts";
import type { Memo } from "../incremental/memo.ts";
import { query } from "../incremental/query.ts";
import type { BuiltHost, RouteTables } from "./routes/outbound-routes.ts";

/** All tables as one, for an explicit HTTP proxy. */
export interface JoinedTable {
  /** Each with its port and in the form that its own table has. */
  readonly origins: readonly { readonly port: number; readonly host: BuiltHost }[];
  readonly hosts: readonly BuiltHost[];
}

/** Without a port in the request's host, port 80 is meant. */
export function joinedTable(tables: RouteTables, memo: Memo): JoinedTable {
  const all = [...tables].flatMap(([port, hosts]) => hosts.map((host) => ({ port, host })));
  const named = all.filter(({ port, host }) => port === 80 || host.domains.some((domain) => domain.includes(":")));
  const origins = named.sort((a, b) => byCodePoint(a.host.name, b.host.name));
  return { origins, hosts: origins.map(({ port, host }) => joinedHost(memo, port, host)) };
}

/**
 * The same of tables that have most of their hosts, as objects and in their places, from others.
 *
 * @param parent the others, and these as one
 */
export function joinedAs(
  tables: RouteTables,
  parent: { readonly tables: RouteTables; readonly joined: JoinedTable },
  memo: Memo,
): JoinedTable {
  const replaced = new Map<BuiltHost, BuiltHost>();
  for (const [port, hosts] of tables) {
    const before = parent.tables.get(port) ?? [];
    if (before.length !== hosts.length) return joinedTable(tables, memo);
    for (const [at, host] of hosts.entries()) {
      const other = before[at];
      if (other === host) continue;
      if (other?.name !== host.name) return joinedTable(tables, memo);
      replaced.set(other, host);
    }
  }
  if (tables.size !== parent.tables.size) return joinedTable(tables, memo);
  const origins = parent.joined.origins.map((origin) => {
    const host = replaced.get(origin.host);
    return host === undefined ? origin : { ...origin, host };
  });
  const hosts = origins.map((origin, at) => {
    const known = origin === parent.joined.origins[at] ? parent.joined.hosts[at] : undefined;
    return known ?? joinedHost(memo, origin.port, origin.host);
  });
  return { origins, hosts };
}

const joinedHost = (memo: Memo, port: number, host: BuiltHost): BuiltHost =>
  port === 80 ? host : withPorts(memo, { host });

/** A virtual host for requests that name its port. */
const withPorts = query(
  "virtual host with ports of the v1 API",
  ({ host }: { readonly host: BuiltHost }): BuiltHost => ({
    ...host,
    domains: host.domains.filter((domain) => domain.includes(":")),
  }),
);
