import { error, type Finding, type Path } from "../finding.ts";
import type { ServiceEntry } from "../kinds/service-entry.ts";
import type { VirtualService } from "../kinds/virtual-service.ts";

/**
 * What one object may expand to. A short text can name a product of lists that no memory holds, so the product is worked out before it
 * is made. Istio has no such limits; `docs/limits.md` lists these.
 */

/** Services of a ServiceEntry times their ports: each is a listener or a virtual host, and a cluster. */
export const maxServicePorts = 16_384;
/** Hosts of a ServiceEntry times ports times endpoints: each is an endpoint of a cluster. */
export const maxEntryEndpoints = 262_144;
/**
 * Characters of routes and policies as they are copied: for each host and gateway of a VirtualService, for each source and operation of
 * a rule of an AuthorizationPolicy.
 */
export const maxCopiedCharacters = 48 * 1024 * 1024;
/** What Envoy's form of a route or a match has beside what is written, about. */
export const routeOverhead = 256;
/** Egress listeners of a Sidecar: each has route tables of its own for the services that it imports. */
export const maxEgressListeners = 256;
/** Servers of a Gateway: each has a filter chain or a route table of its own. */
export const maxServers = 4096;
/** Patches of an EnvoyFilter: each is applied to every cluster, listener or route that it matches. */
export const maxPatches = 1024;

/** Localities of one list: each is compared with all others. */
export const maxLocalities = 1024;

/** The lengths of lists by their names: `{ hosts: 256, ports: 256 }`. A length of 0 counts as 1: what is left out is one default. */
export type Factors = Readonly<Record<string, number>>;

/** Says whether a product of lists is larger than it may be. @param of what there would be so many of: "service ports" */
export function* productRules(factors: Factors, of: string, most: number, path: Path): Generator<Finding> {
  const lists = Object.entries(factors).filter(([, length]) => length > 1);
  const product = lists.reduce((all, [, length]) => all * length, 1);
  if (product <= most) return;
  const written = lists.map(([name, length]) => `${length} ${name}`).join(" × ");
  yield tooLarge(path, `expands to ${product} ${of} (${written}); the limit is ${most}`);
}

/** The same for text that is copied. @param characters of one copy */
export function* copiesRules(characters: number, factors: Factors, of: string, path: Path): Generator<Finding> {
  const lists = Object.entries(factors).filter(([, length]) => length > 1);
  const copies = lists.reduce((all, [, length]) => all * length, 1);
  if (copies * characters <= maxCopiedCharacters) return;
  const written = lists.map(([name, length]) => `${length} ${name} × `).join("");
  const size = `${mebi(copies * characters)} MiB of ${of} (${written}${Math.ceil(characters / 1024)} KiB)`;
  yield tooLarge(path, `expands to about ${size}; the limit is ${mebi(maxCopiedCharacters)} MiB`);
}

/** Says whether a list has more entries than it may have. */
export function* lengthRules(list: readonly unknown[] | undefined, most: number, path: Path): Generator<Finding> {
  if (list !== undefined && list.length > most)
    yield tooLarge(path, `has ${list.length} entries; the limit is ${most}`);
}

const tooLarge = (path: Path, message: string): Finding =>
  error(path, message, "split it into several objects, or write shorter lists", "too-large");

const mebi = (characters: number): number => Math.ceil(characters / (1024 * 1024));

/** Service ports of a ServiceEntry. */
export const servicePortsOf = ({ hosts, addresses = [], ports = [] }: ServiceEntry): number =>
  [hosts, addresses, ports].reduce((product, { length }) => product * Math.max(length, 1), 1);

/** Characters of one copy of the routes of a VirtualService. */
export function routesLength({ http = [], tls = [], tcp = [] }: VirtualService): number {
  const routes = [...http, ...tls, ...tcp].reduce((sum, { match = [] }) => sum + 1 + match.length, 0);
  return jsonLength([http, tls, tcp]) + routes * routeOverhead;
}

/** How often the routes of a VirtualService are copied. */
export const copiesOf = ({ hosts, gateways = [] }: VirtualService): number =>
  hosts.length * Math.max(gateways.length, 1);

/** Of what is copied: its length as JSON; 0 for nothing. */
export const jsonLength = (value: unknown): number => (value === undefined ? 0 : JSON.stringify(value).length);
