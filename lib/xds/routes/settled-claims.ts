import { byCodePoint } from "../../base/diagnostic.ts";
import { listKeeper } from "../../incremental/keep-identity.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { sameElements } from "../../incremental/same-elements.ts";
import type { Placement } from "./placed-hosts.ts";
import type { Domains } from "./service-domains.ts";
import type { TableServices } from "./table-services.ts";

/** The name and the domains that a virtual host would like to have. */
export interface Claim {
  readonly name: string;
  readonly domains: Domains;
  readonly port: number;
  /** Service for which a virtual service stands; "" for other hosts. */
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

/** By the virtual service that brings them. */
export type ClaimsBrought = readonly (readonly Claim[])[];

interface Settled extends Placement {
  /** Claims of a name that was taken, in order. */
  readonly duplicates: readonly number[];
}

interface Claims {
  readonly claims: ClaimsBrought;
  readonly ofOthers: readonly Claim[];
  readonly services: TableServices;
  readonly port: number;
}

/**
 * Which virtual host gets which names and domains: the first that claims them. Namespaces differ in the short names of their own
 * services; where these cross no other claim, the result is that of the table without them, which all namespaces share.
 */
export const settledClaims = query(
  "settled claims",
  ({ claims: brought, ofOthers, services, port }: Claims, memo: Memo): Settled => {
    const asked = { claims: [...brought.flat(), ...ofOthers], counts: brought.map(({ length }) => length), services };
    // The short names of a table of all ports are those of its one gateway.
    const base = port === 0 ? undefined : settledElsewhere(memo, elsewhere(memo, asked, port));
    return base !== undefined && isSettledAs(base, asked) ? base.settled : settle(asked, port).settled;
  },
);

interface AskedAtPort extends Asked {
  readonly port: number;
}

/** What proxies of a namespace claim that has none of these hosts: the same lists for all namespaces as long as they say the same. */
function elsewhere(memo: Memo, { claims, counts, services }: Asked, port: number): AskedAtPort {
  const slot = String(port);
  const others = claims.map((claim) =>
    claim.domains.elsewhere === undefined ? claim : { ...claim, domains: claim.domains.elsewhere },
  );
  return { claims: keptElsewhere(memo, slot, others), counts: keptCounts(memo, slot, counts), services, port };
}

const keptElsewhere = listKeeper("claims of other namespaces", isSameClaim);

const keptCounts = listKeeper<number>("claims of each virtual service");

const settledElsewhere = query(
  "settled claims of other namespaces",
  ({ port, ...asked }: AskedAtPort): Settlement => settle(asked, port),
);

/** All claims of a table. */
interface Asked {
  readonly claims: readonly Claim[];
  /** How many of them each virtual service brings; those of others come behind them. */
  readonly counts: readonly number[];
  readonly services: TableServices;
}

interface Settlement extends Asked {
  readonly settled: Settled;
  /** Of all claims. */
  readonly hostnames: ReadonlySet<string>;
  /** Keys of domains that somebody has. */
  readonly held: ReadonlySet<string>;
  /** Keys of domains that somebody has claimed in vain. */
  readonly denied: ReadonlySet<string>;
  /** Claims that do not have all of their domains. */
  readonly lessened: ReadonlySet<number>;
}

/**
 * Whether claims are settled as others were: the same names, and where domains are others nobody's way is crossed. So it is with the tables of
 * all namespaces, each of which has short names for the services of its own.
 */
function isSettledAs(last: Settlement, { claims, counts, services }: Asked): boolean {
  if (last.services !== services || last.claims.length !== claims.length) return false;
  // Who holds a settlement takes it that each virtual service has its places where it had them.
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

/** Whether some claims, which had all that they claimed, can have other domains, and what they leave is nobody's wish. */
function areFree(last: Settlement, claims: readonly Claim[], changed: readonly number[]): boolean {
  const { held, denied, lessened, hostnames, services } = last;
  const left = new Set<string>();
  for (const at of changed) {
    const { keys } = last.claims[at]?.domains ?? noDomains;
    if (lessened.has(at) || keys.length === 0) return false;
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

function settle(asked: Asked, tablePort: number): Settlement {
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
  const places: (number | undefined)[] = claims.map(() => undefined);
  const ofServices = counts.reduce((sum, count) => sum + count, 0);
  const trimmed = new Map<number, readonly string[]>();
  for (const [place, at] of order.entries()) {
    places[at] = place;
    const domains = kept.get(at);
    if (domains !== undefined) trimmed.set(place, domains);
  }
  const settled = {
    count: order.length,
    places: places.slice(0, ofServices),
    placesOfOthers: places.slice(ofServices),
    trimmed,
    duplicates,
  };
  return { ...asked, settled, hostnames, held, denied, lessened: new Set([...kept.keys(), ...duplicates]) };
}

interface Taking {
  readonly held: Set<string>;
  readonly denied: Set<string>;
  readonly isKnown: (domain: string) => boolean;
}

/** The domains that nobody has taken, which are taken then; as a rule all of them, and then no list is made. */
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
