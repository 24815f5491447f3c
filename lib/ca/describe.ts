import { type Authority, rootsOf } from "./authority.ts";
import { certificateOf } from "./issue.ts";

/** A CA without its keys, for people and programs. */
export interface DescribedAuthority {
  readonly trustDomain: string;
  readonly active: DescribedCertificate;
  readonly next?: DescribedCertificate & { readonly trustedSince: string };
  readonly previous?: DescribedCertificate & { readonly replaced: string };
  readonly roots: readonly DescribedCertificate[];
}

export interface DescribedCertificate {
  readonly subject: string;
  /** Hex. */
  readonly serial: string;
  /** RFC 3339. */
  readonly notAfter: string;
}

export function describeAuthority(authority: Authority): DescribedAuthority {
  const { trustDomain, active, next, previous } = authority;
  return {
    trustDomain,
    active: described(active.certificate),
    ...(next && { next: { ...described(next.certificate), trustedSince: timeText(next.trustedSinceMs) } }),
    ...(previous && { previous: { ...described(previous.certificate), replaced: timeText(previous.replacedMs) } }),
    roots: rootsOf(authority).map(described),
  };
}

const timeText = (ms: number): string => new Date(ms).toISOString();

function described(pem: string): DescribedCertificate {
  const { subject, serialNumber, notAfter } = certificateOf(pem);
  return { subject, serial: serialNumber, notAfter: notAfter.toISOString() };
}

/** One line for each certificate. */
export function describedText({ trustDomain, active, next, previous, roots }: DescribedAuthority): string {
  const lineOf = (name: string, { subject, serial, notAfter }: DescribedCertificate, more = "") =>
    `${name.padEnd(14)}${subject}, serial ${serial}, valid until ${notAfter}${more}`;
  return [
    `trust domain  ${trustDomain}`,
    lineOf("signs", active),
    ...(next === undefined ? [] : [lineOf("signs next", next, `, trusted since ${next.trustedSince}`)]),
    ...(previous === undefined ? [] : [lineOf("signed before", previous, `, replaced ${previous.replaced}`)]),
    ...roots.map((root) => lineOf("root", root)),
  ].join("\n");
}
