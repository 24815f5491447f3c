import { byCodePoint, type Diagnostic, type Origin } from "../../config/diagnostic.ts";
import type { Memo } from "../../mesh/memo/memo.ts";
import { keptLists } from "../../mesh/memo/same.ts";
import { step } from "../../mesh/memo/step.ts";
import type { Domains } from "./service-domains.ts";
import type { TableServices } from "./table-services.ts";
import type { VirtualHostPiece } from "./virtual-host.ts";

/** The name and the domains that a virtual host would like to have. */
export interface Claim {
  readonly name: string;
  readonly domains: Domains;
  readonly port: number;
  /** Service for which a virtual service stands; "" for other hosts. */
  readonly hostname: string;
}

/** A virtual host before its name and domains are compared with those of the others. */
export interface Candidate {
  readonly piece: VirtualHostPiece;
  readonly claim: Claim;
  /** Whose fault a conflict is; undefined where only services meet. */
  readonly origin: Origin | undefined;
}

/** Where virtual hosts meet. */
export interface TablePlace {
  readonly services: TableServices;
  /** 0: a table of all ports. */
  readonly port: number;
  /** Tells the claims of one table and class from those of others when they are found again. */
  readonly slot: string;
}

/**
 * The virtual hosts with the names and domains that nobody has before them, sorted by name.
 * Routes have no say in that, so that a change of routes leaves the decision as it was.
 */
export function settledHosts(
  candidates: readonly Candidate[],
  { services, port, slot }: TablePlace,
  memo: Memo,
): { readonly pieces: readonly VirtualHostPiece[]; readonly diagnostics: readonly Diagnostic[] } {
  const wanted = candidates.map((candidate) => candidate.claim);
  const claims = keptClaims(memo, slot, wanted);
  const { order, trimmed, duplicates } = settledClaims(memo, { claims, services, port });
  const pieces: VirtualHostPiece[] = [];
  for (const at of order) {
    const piece = candidates[at]?.piece;
    if (piece === undefined) continue;
    const domains = trimmed.get(at);
    pieces.push(domains === undefined ? piece : trimmedHost(memo, { piece, domains }));
  }
  const diagnostics = duplicates.flatMap((at) => {
    const { piece, origin } = candidates[at] ?? {};
    return piece === undefined || origin === undefined ? [] : [duplicateHost(piece.name, origin)];
  });
  return { pieces, diagnostics };
}

const keptClaims = keptLists("claims of a route table", isSameClaim);

function isSameClaim(last: Claim, claim: Claim): boolean {
  if (last === claim) return true;
  if (last.name !== claim.name || last.port !== claim.port || last.hostname !== claim.hostname) return false;
  const [a, b] = [last.domains, claim.domains];
  if (a === b) return true;
  return (
    a.all.length === b.all.length &&
    a.all.every((domain, at) => domain === b.all[at] && a.keys[at] === b.keys[at] && a.derived[at] === b.derived[at])
  );
}

interface Settled {
  /** The claims that get domains, sorted by name. */
  readonly order: readonly number[];
  /** The domains of those that do not get all that they claim. */
  readonly trimmed: ReadonlyMap<number, readonly string[]>;
  /** Claims of a name that was taken, in order. */
  readonly duplicates: readonly number[];
}

interface Claims {
  readonly claims: readonly Claim[];
  readonly services: TableServices;
  readonly port: number;
}

const settledClaims = step("settled claims", { services: "identity", claims: "identity", port: "value" }, settle);

function settle({ claims, services, port: tablePort }: Claims): Settled {
  const claimed = new Set(claims.map((claim) => claim.hostname));
  const isKnown = (domain: string): boolean => services.known.has(domain) || claimed.has(domain);
  const names = new Set<string>();
  const taken = new Set<string>();
  const order: number[] = [];
  const trimmed = new Map<number, readonly string[]>();
  const duplicates: number[] = [];
  for (const [at, { name, domains, port }] of claims.entries()) {
    if (names.has(name)) {
      duplicates.push(at);
      continue;
    }
    names.add(name);
    const free = freeOf(domains, taken, isKnown);
    // A table of all ports tells the ports of a host apart by the domains that name one; port 80 needs no name.
    const kept = tablePort === 0 && port !== 80 ? free.filter((domain) => domain.includes(":")) : free;
    if (kept.length > 0) order.push(at);
    if (kept.length < domains.all.length) trimmed.set(at, kept);
  }
  order.sort((a, b) => byCodePoint(claims[a]?.name ?? "", claims[b]?.name ?? ""));
  return { order, trimmed, duplicates };
}

/** The domains that nobody has taken, which are taken then; as a rule all of them, and then no list is made. */
function freeOf(
  { all, keys, derived }: Domains,
  taken: Set<string>,
  isKnown: (domain: string) => boolean,
): readonly string[] {
  let free: string[] | undefined;
  for (const [at, domain] of all.entries()) {
    const key = keys[at] ?? domain;
    if (taken.has(key) || (derived[at] === true && isKnown(domain))) free ??= all.slice(0, at);
    else {
      taken.add(key);
      free?.push(domain);
    }
  }
  return free ?? all;
}

interface Trimmed {
  readonly piece: VirtualHostPiece;
  readonly domains: readonly string[];
}

const trimmedHost = step(
  "virtual host with fewer domains",
  { piece: "identity", domains: "value" },
  ({ piece, domains }: Trimmed): VirtualHostPiece => ({ ...piece, json: { ...piece.json, domains: [...domains] } }),
);

function duplicateHost(name: string, origin: Origin): Diagnostic {
  return {
    code: "duplicate-virtual-host",
    severity: "warning",
    origin,
    path: ["spec", "hosts"],
    message: `an older VirtualService already has the virtual host ${name}; these routes are not used there`,
    hint: "give each host to one VirtualService, or let one delegate to the other",
  };
}
