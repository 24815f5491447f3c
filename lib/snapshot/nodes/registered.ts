/**
 * Machines that have registered themselves for a WorkloadGroup: servers write a record of each, the compiler makes WorkloadEntries of them.
 * A record has what was proven, the address, and the health that the machine's agent reports.
 */
import { hashOf } from "../../base/blob.ts";
import { isRecord } from "../../base/classifier.ts";

/** Records lie here, by namespace, identity, and by group and address. */
export const registeredPrefix = "registered/";

/** How often a server writes a record again whose machine is connected. */
export const renewMs = 60_000;

/** How long a record counts. */
export const registeredMs = 3 * renewMs;

/** Records of one identity, of one namespace, and of all. */
export const maxOfIdentity = 64;
export const maxOfNamespace = 256;
export const maxRegistered = 1_024;

export const maxRecordBytes = 4_096;

/** Of what an agent says of its probe. */
export const maxFailureBytes = 256;

export interface RegisteredRecord {
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly group: string;
  readonly address: string;
  /** What the agent's probe has found; absent: it has reported nothing. */
  readonly isHealthy?: boolean;
  /** What the agent says of a probe that failed. */
  readonly failure?: string;
  /** When its first stream began, and when the last one ended: milliseconds since the epoch, by the server's clock. */
  readonly connectedAtMs?: number;
  readonly disconnectedAtMs?: number;
  /** The machine has gone, and has not come back within the grace time. */
  readonly isGone?: boolean;
  /** Tells the server that wrote it from others. */
  readonly server: string;
}

const part = (text: string): string => hashOf(text).slice(0, 16);

/** What the keys of a namespace's records begin with, and those of an identity's. */
export const namespacePrefix = ({ namespace }: RegisteredRecord): string => `${registeredPrefix}${part(namespace)}-`;
export const identityPrefix = (record: RegisteredRecord): string =>
  `${namespacePrefix(record)}${part(record.serviceAccount)}-`;

/** The name of the WorkloadEntry, as Istio gives it: one that is too long loses its beginning. */
export const entryName = ({ group, address }: RegisteredRecord): string =>
  `${group}-${address.replaceAll(":", "-")}`.slice(-253);

export const recordKey = (record: RegisteredRecord): string =>
  identityPrefix(record) + part(`${record.group}\n${record.address}`);

/** @returns undefined for what is no record */
export function readRecord(bytes: Uint8Array): RegisteredRecord | undefined {
  try {
    const record: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return bytes.length <= maxRecordBytes && isRegistered(record) ? record : undefined;
  } catch {
    return undefined;
  }
}

function isRegistered(value: unknown): value is RegisteredRecord {
  if (!isRecord(value)) return false;
  const { namespace, serviceAccount, group, address, server, isHealthy, isGone, failure } = value;
  const { connectedAtMs, disconnectedAtMs } = value;
  const isText = [namespace, serviceAccount, group, address, server].every((one) => typeof one === "string");
  const isTime = [connectedAtMs, disconnectedAtMs].every(
    (one) => one === undefined || (Number.isInteger(one) && !Number.isNaN(new Date(Number(one)).getTime())),
  );
  const isSaid = failure === undefined || typeof failure === "string";
  return (
    isText && isTime && isSaid && [isHealthy, isGone].every((one) => one === undefined || typeof one === "boolean")
  );
}
