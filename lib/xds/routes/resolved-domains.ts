import { byCodePoint } from "../../base/diagnostic.ts";
import { listKeeper } from "../../incremental/keep-identity.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { sameElements } from "../../incremental/same-elements.ts";
import type { HostOrder } from "./resolved-hosts.ts";
import type { Domains } from "./service-domains.ts";
import type { TableServices } from "./table-services.ts";

/** The name and the domains that a virtual host claims. */
export interface Claim {
  readonly name: string;
  readonly domains: Domains;
  readonly port: number;
  /** Service that a VirtualService configures; "" for other hosts. */
  readonly hostname: string;
}

/** Whether two claims are of the same virtual host, whatever its domains. */
const areOfSameHost = (a: Claim, b: Claim): boolean =>
  a.name === b.name && a.port === b.port && a.hostname === b.hostname;

/** Whether two claims are of the same virtual host and of the same domains. */
export function isSameClaim(last: Claim, claim: Claim): boolean {
  if (last === claim) return true;
  if (!areOfSameHost(last, claim)) return false;
  const [a, b] = [last.domains, claim.domains];
  if (a === b) return true;
  return (
    a.all.length === b.all.length &&
    a.all.every((domain, at) => domain === b.all[at] && a.keys[at] === b.keys[at] && a.derived[at] === b.derived[at])
  );
}

/** One element per VirtualService. */
export type ClaimsOfVirtualServices = readonly (readonly Claim[])[];

interface ResolvedDomains extends HostOrder {
  /** Claims of a name that was taken, in order. */
  readonly duplicates: readonly number[];
}

interface Claims {
  readonly claims: ClaimsOfVirtualServices;
  readonly ofDefaults: readonly Claim[];
  readonly services: TableServices;
  readonly port: number;
}

/**
 * Which virtual host gets which names and domains: the first that claims them. Namespaces differ in the short names of their own
 * services; where these cross no other claim, the result is that of the table without them, which all namespaces share.
 */
export const resolvedDomains = query(
  "settled claims",
  ({ claims: fromVirtualServices, ofDefaults, services, port }: Claims, memo: Memo): ResolvedDomains => {
    const asked = {
      claims: [...fromVirtualServices.flat(), ...ofDefaults],
      counts: fromVirtualServices.map(({ length }) => length),
      services,
    };
    // The short names of a table of all ports are those of its one gateway.
    const base = port === 0 ? undefined : resolvedElsewhere(memo, elsewhere(memo, asked, port));
    return base !== undefined && isResolvedAs(base, asked) ? base.resolved : resolve(asked, port).resolved;
  },
);

interface AskedAtPort extends Asked {
  readonly port: number;
}

/** The claims for proxies of a namespace without any of these hosts. All such namespaces share the lists. */
function elsewhere(memo: Memo, { claims, counts, services }: Asked, port: number): AskedAtPort {
  const slot = String(port);
  const others = claims.map((claim) =>
    claim.domains.elsewhere === undefined ? claim : { ...claim, domains: claim.domains.elsewhere },
  );
  return { claims: keptElsewhere(memo, slot, others), counts: keptCounts(memo, slot, counts), services, port };
}

const keptElsewhere = listKeeper("claims of other namespaces", isSameClaim);

const keptCounts = listKeeper<number>("claims of each virtual service");

const resolvedElsewhere = query(
  "settled claims of other namespaces",
  ({ port, ...asked }: AskedAtPort): FullResolution => resolve(asked, port),
);

/** All claims of a table. */
interface Asked {
  readonly claims: readonly Claim[];
  /** How many of them each VirtualService has; the default hosts come after them. */
  readonly counts: readonly number[];
  readonly services: TableServices;
}

interface FullResolution extends Asked {
  readonly resolved: ResolvedDomains;
  /** Of all claims. */
  readonly hostnames: ReadonlySet<string>;
  /** Keys of domains that a virtual host has. */
  readonly held: ReadonlySet<string>;
  /** Keys of domains that a virtual host claimed and did not get. */
  readonly denied: ReadonlySet<string>;
  /** Claims that do not have all of their domains. */
  readonly reduced: ReadonlySet<number>;
}

/**
 * Whether an earlier resolution holds for these claims: the names are the same, and changed domains cause no conflict. That is the usual case
 * for the tables of all namespaces, which differ in short names of their own services.
 */
function isResolvedAs(last: FullResolution, { claims, counts, services }: Asked): boolean {
  if (last.services !== services || last.claims.length !== claims.length) return false;
  // The indexes of a resolution assume the same number of hosts per VirtualService.
  if (!sameElements(last.counts, counts)) return false;
  const changed: number[] = [];
  for (let at = 0; at < claims.length; at++) {
    const [before, claim] = [last.claims[at], claims[at]];
    if (before === claim || before === undefined || claim === undefined) continue;
    if (!areOfSameHost(before, claim)) return false;
    if (before.domains !== claim.domains) changed.push(at);
  }
  return areFree(last, claims, changed);
}

/** Whether claims that got all of their domains can change them without a conflict, and no denied claim wants what they release. */
function areFree(last: FullResolution, claims: readonly Claim[], changed: readonly number[]): boolean {
  const { held, denied, reduced, hostnames, services } = last;
  const left = new Set<string>();
  for (const at of changed) {
    const { keys } = last.claims[at]?.domains ?? noDomains;
    if (reduced.has(at) || keys.length === 0) return false;
    for (const key of keys) left.add(key);
  }
  const taken = new Set<string>();
  for (const at of changed) {
    const { all, keys, derived } = claims[at]?.domains ?? noDomains;
    if (all.length === 0) return false;
    for (let of = 0; of < keys.length; of++) {
      const key = keys[of] ?? "";
      if (taken.has(key) || denied.has(key) || (held.has(key) && !left.has(key))) return false;
      if (derived[of] === true && isKnownIn(services, hostnames, all[of] ?? "")) return false;
      taken.add(key);
    }
  }
  for (const key of left) if (denied.has(key)) return false;
  return true;
}

const noDomains: Domains = { all: [], keys: [], derived: [] };

const isKnownIn = ({ known }: TableServices, hostnames: ReadonlySet<string>, domain: string): boolean =>
  known.has(domain) || hostnames.has(domain);

function resolve(asked: Asked, tablePort: number): FullResolution {
  const { claims, counts, services } = asked;
  const hostnames = new Set(claims.map((claim) => claim.hostname));
  const isKnown = (domain: string): boolean => isKnownIn(services, hostnames, domain);
  const names = new Set<string>();
  const held = new Set<string>();
  const denied = new Set<string>();
  const order: number[] = [];
  const kept = new Map<number, readonly string[]>();
  const duplicates: number[] = [];
  for (const [at, { name, domains, port }] of claims.entries()) {
    if (names.has(name)) {
      duplicates.push(at);
      continue;
    }
    names.add(name);
    const free = freeOf(domains, { held, denied, isKnown });
    // A table of all ports tells the ports of a host apart by the domains that name one; port 80 needs no name.
    const own = tablePort === 0 && port !== 80 ? free.filter((domain) => domain.includes(":")) : free;
    if (own.length > 0) order.push(at);
    if (own.length < domains.all.length) kept.set(at, own);
  }
  order.sort((a, b) => byCodePoint(claims[a]?.name ?? "", claims[b]?.name ?? ""));
  const indexes: (number | undefined)[] = claims.map(() => undefined);
  const ofServices = counts.reduce((sum, count) => sum + count, 0);
  const trimmed = new Map<number, readonly string[]>();
  for (const [index, at] of order.entries()) {
    indexes[at] = index;
    const domains = kept.get(at);
    if (domains !== undefined) trimmed.set(index, domains);
  }
  const resolved = {
    count: order.length,
    indexes: indexes.slice(0, ofServices),
    indexesOfDefaults: indexes.slice(ofServices),
    trimmed,
    duplicates,
  };
  return { ...asked, resolved, hostnames, held, denied, reduced: new Set([...kept.keys(), ...duplicates]) };
}

interface Taking {
  readonly held: Set<string>;
  readonly denied: Set<string>;
  readonly isKnown: (domain: string) => boolean;
}

/** Takes the domains that are still free. Usually all are, and then the list itself is returned. */
function freeOf({ all, keys, derived }: Domains, { held, denied, isKnown }: Taking): readonly string[] {
  let free: string[] | undefined;
  for (const [at, domain] of all.entries()) {
    const key = keys[at] ?? domain;
    if (held.has(key) || (derived[at] === true && isKnown(domain))) {
      free ??= all.slice(0, at);
      denied.add(key);
    } else {
      held.add(key);
      free?.push(domain);
    }
  }
  return free ?? all;
}
