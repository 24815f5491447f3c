import { canonicalAddress, ipFamily, isIpAddress } from "../config/values/ip-address.ts";

/** Records of addresses, as DNS calls them. */
export type RecordType = "A" | "AAAA";

export const recordTypes: readonly RecordType[] = ["A", "AAAA"];

export interface AddressRecord {
  readonly address: string;
  /** How long it counts; what remains of it where a name server answers out of its cache. */
  readonly ttlSeconds: number;
}

/**
 * Asks for the addresses of a name, which is whole: no search domain is put behind it.
 *
 * @returns none where the name has none, or is none
 * @throws PortolanError where no name server gives an answer
 */
export type AskDns = (host: string, type: RecordType, signal: AbortSignal) => Promise<readonly AddressRecord[]>;

/** Nothing can be reached there, though DNS says so for names that are blocked. */
const nowhere: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

/** The records that are addresses of their type, in one spelling. */
export const usableRecords = (records: readonly AddressRecord[], type: RecordType): readonly AddressRecord[] =>
  records.flatMap(({ address, ttlSeconds }) => {
    if (!isIpAddress(address) || (ipFamily(address) === "IPv6") !== (type === "AAAA")) return [];
    const written = canonicalAddress(address);
    return nowhere.has(written) ? [] : [{ address: written, ttlSeconds }];
  });
