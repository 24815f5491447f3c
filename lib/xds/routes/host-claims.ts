import type { Diagnostic, Origin, Stage } from "../../base/diagnostic.ts";
import { listKeeper } from "../../incremental/keep-identity.ts";
import { mappedList } from "../../incremental/mapped-list.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { sameElements } from "../../incremental/same-elements.ts";
import type { SettledHosts } from "./placed-hosts.ts";
import { type Claim, type ClaimsBrought, isSameClaim, settledClaims } from "./settled-claims.ts";
import type { TableServices } from "./table-services.ts";
import type { VirtualHostPiece } from "./virtual-host.ts";

/** A virtual host before its name and domains are compared with those of the others. */
export interface Candidate {
  readonly piece: VirtualHostPiece;
  readonly claim: Claim;
  /** Whose fault a conflict is; undefined where only services meet. */
  readonly origin: Origin | undefined;
}

/** What one virtual service brings to a table. */
export interface BroughtHosts {
  readonly hosts: readonly Candidate[];
  /** Those of the hosts. */
  readonly claims: readonly Claim[];
}

export const broughtHosts = (hosts: readonly Candidate[]): BroughtHosts => ({
  hosts,
  claims: hosts.map(({ claim }) => claim),
});

/** Where virtual hosts meet. */
export interface TablePlace {
  readonly services: TableServices;
  /** 0: a table of all ports. */
  readonly port: number;
  /** Tells the claims of one table and class from those of others when they are found again. */
  readonly slot: string;
}

/** What the hosts of a table claim; the same lists as long as they say the same, whatever their routes are. */
export const claimsBrought = (memo: Memo, slot: string, brought: readonly BroughtHosts[]): ClaimsBrought =>
  keptBrought(memo, slot, claimsOfBrought(memo, slot, brought, {}));

const claimsOfBrought = mappedList("claims that are brought", ({ claims }: BroughtHosts) => claims);

const keptBrought = listKeeper<readonly Claim[]>("claims of virtual services", (last, claims) =>
  sameElements(last, claims, isSameClaim),
);

/** All who would like to be in a table. */
export interface Candidates {
  /** They go before the others. */
  readonly brought: readonly BroughtHosts[];
  /** Of `brought`. */
  readonly claims: ClaimsBrought;
  /** Those of services alone, whose conflicts are nobody's fault. */
  readonly others: readonly Candidate[];
}

/**
 * The virtual hosts with the names and domains that nobody has before them, in places sorted by name.
 * Routes have no say in that, so that a change of routes leaves the decision as it was.
 */
export function settledHosts(
  { brought, claims, others }: Candidates,
  { services, port, slot }: TablePlace,
  memo: Memo,
): Stage<SettledHosts> {
  const ofOthers = keptClaims(memo, slot, claimsOf(memo, { candidates: others }));
  const settled = settledClaims(memo, { claims, ofOthers, services, port });
  const { duplicates } = settled;
  const candidates = duplicates.length === 0 ? [] : brought.flatMap(({ hosts }) => hosts);
  const diagnostics = duplicates.flatMap((duplicate) => {
    const { piece, origin } = candidates[duplicate] ?? {};
    return piece === undefined || origin === undefined ? [] : [duplicateHost(piece.name, origin)];
  });
  return { value: { brought, others, placement: settled, slot }, diagnostics };
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
