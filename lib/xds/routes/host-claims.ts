import type { Diagnostic, Origin, Stage } from "../../base/diagnostic.ts";
import { listKeeper } from "../../incremental/keep-identity.ts";
import { mappedList } from "../../incremental/mapped-list.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { sameElements } from "../../incremental/same-elements.ts";
import { type Claim, type ClaimsOfVirtualServices, isSameClaim, resolvedDomains } from "./resolved-domains.ts";
import type { ResolvedHosts } from "./resolved-hosts.ts";
import type { TableServices } from "./table-services.ts";
import type { VirtualHostPiece } from "./virtual-host.ts";

/** A virtual host before its domain conflicts are resolved. */
export interface Candidate {
  readonly piece: VirtualHostPiece;
  readonly claim: Claim;
  /** Whose fault a conflict is; undefined where only services meet. */
  readonly origin: Origin | undefined;
}

/** The hosts of one VirtualService in a table. */
export interface VirtualServiceHosts {
  readonly hosts: readonly Candidate[];
  /** Those of the hosts. */
  readonly claims: readonly Claim[];
}

export const virtualServiceHosts = (hosts: readonly Candidate[]): VirtualServiceHosts => ({
  hosts,
  claims: hosts.map(({ claim }) => claim),
});

/** The table that hosts compete for. */
export interface TableKey {
  readonly services: TableServices;
  /** 0: a table of all ports. */
  readonly port: number;
  /** Cache slot: one per table and class. */
  readonly slot: string;
}

/** The claims of a table's hosts; the lists keep their identity while the claims stay the same, whatever the routes are. */
export const claimsOfVirtualServices = (
  memo: Memo,
  slot: string,
  fromVirtualServices: readonly VirtualServiceHosts[],
): ClaimsOfVirtualServices => keptVirtualServiceClaims(memo, slot, listedClaims(memo, slot, fromVirtualServices, {}));

const listedClaims = mappedList("claims that are brought", ({ claims }: VirtualServiceHosts) => claims);

const keptVirtualServiceClaims = listKeeper<readonly Claim[]>("claims of virtual services", (last, claims) =>
  sameElements(last, claims, isSameClaim),
);

/** All candidate virtual hosts of a table. */
export interface Candidates {
  /** They take precedence over the defaults. */
  readonly fromVirtualServices: readonly VirtualServiceHosts[];
  /** Of `fromVirtualServices`. */
  readonly claims: ClaimsOfVirtualServices;
  /** Hosts of services without a VirtualService; their conflicts are not reported. */
  readonly defaults: readonly Candidate[];
}

/**
 * Resolves conflicts of names and domains (the first claim wins) and sorts by name.
 * Routes are not read, so a change of routes keeps the result.
 */
export function resolvedHosts(
  { fromVirtualServices, claims, defaults }: Candidates,
  { services, port, slot }: TableKey,
  memo: Memo,
): Stage<ResolvedHosts> {
  const ofDefaults = keptClaims(memo, slot, claimsOf(memo, { candidates: defaults }));
  const resolved = resolvedDomains(memo, { claims, ofDefaults, services, port });
  const { duplicates } = resolved;
  const candidates = duplicates.length === 0 ? [] : fromVirtualServices.flatMap(({ hosts }) => hosts);
  const diagnostics = duplicates.flatMap((duplicate) => {
    const { piece, origin } = candidates[duplicate] ?? {};
    return piece === undefined || origin === undefined ? [] : [duplicateHost(piece.name, origin)];
  });
  return { value: { fromVirtualServices, defaults, order: resolved, slot }, diagnostics };
}

const claimsOf = query("claims of virtual hosts", ({ candidates }: { readonly candidates: readonly Candidate[] }) =>
  candidates.map(({ claim }) => claim),
);

const keptClaims = listKeeper("claims of services alone", isSameClaim);

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
