/** Machines that register themselves for a WorkloadGroup while they have a stream, as istiod's WorkloadEntries do. */
import { isIP } from "node:net";
import { type NodeClaims, parseNodeId, textOf } from "../../base/classifier.ts";
import { cutText } from "../../snapshot/free-text.ts";
import {
  identityPrefix,
  maxFailureBytes,
  maxOfIdentity,
  maxOfNamespace,
  maxRecordBytes,
  maxRegistered,
  namespacePrefix,
  type RegisteredRecord,
  readRecord,
  recordKey,
  registeredPrefix,
  renewMs,
} from "../../snapshot/nodes/registered.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { type Caller, misfit } from "../auth/caller.ts";

/** The type by which an agent reports its workload's health. @see istio 1.31.0 pilot/pkg/xds/ads.go, HealthInfoType */
export const healthUrl = "type.googleapis.com/istio.v1.HealthInformation";

/** Member of a node's metadata that names its group. */
const groupMember = "AUTO_REGISTER_GROUP";

/** How long a machine may be without a stream before it has gone. @see istio 1.31.0 pilot/pkg/autoregistration/controller.go, cleanup grace period */
const usualGraceMs = 10_000;

const usualSettleMs = 500;

/** One stream of a machine. */
export interface Registration {
  /** @param failure what the agent says of a probe that failed; absent: it is healthy */
  health(failure?: string): void;
  ended(): void;
}

export interface Registrations {
  /** @returns undefined for a node that names no group, or that has not proven its service account */
  connected(caller: Caller, claims: NodeClaims): Registration | undefined;
  /** Forgets its streams: their machines go to another server. */
  close(): void;
}

export interface RegistrationOptions {
  readonly store: ObjectStore;
  /** Tells this server from others, also from one before it in its place; begins with a name for people. */
  readonly server: string;
  /** Has the sources compiled: a machine has come, gone, or become healthy or unhealthy. */
  readonly trigger: () => unknown;
  /** Hears of a store that takes no record, and of a machine that there is no room for. */
  readonly onError: (cause: unknown) => void;
  readonly graceMs?: number;
  /** How long a change of health is waited for before it is written: an agent may report many. */
  readonly settleMs?: number;
  /** Milliseconds since the epoch; the system's clock when absent. */
  readonly now?: () => number;
}

interface Registered {
  record: RegisteredRecord;
  streams: number;
  /** Of the record as this server wrote it last; undefined where it has written none. */
  etag: string | undefined;
  leaving: ReturnType<typeof setTimeout> | undefined;
  changing: ReturnType<typeof setTimeout> | undefined;
}

export function createRegistrations(options: RegistrationOptions): Registrations {
  const { store, server, trigger, onError, graceMs = usualGraceMs, settleMs = usualSettleMs, now = Date.now } = options;
  const known = new Map<string, Registered>();
  /** One write at a time: what is counted is what the next may add to. */
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = (write: () => Promise<unknown>): void => {
    last = last.then(write).catch(onError);
  };

  async function write(key: string, one: Registered): Promise<void> {
    if (one.etag === undefined && !(await hasRoom(key, one.record)))
      throw new Error(`no room to register ${one.record.group}/${one.record.address} of ${one.record.namespace}`);
    const stored = await store.put(key, bytesOf(one.record));
    if (stored.kind === "stored") one.etag = stored.etag;
  }

  async function hasRoom(key: string, record: RegisteredRecord): Promise<boolean> {
    let [all, ofNamespace, own] = [0, 0, 0];
    for await (const listed of store.list(registeredPrefix)) {
      if (listed.key === key) return true;
      all += 1;
      if (listed.key.startsWith(namespacePrefix(record))) ofNamespace += 1;
      if (listed.key.startsWith(identityPrefix(record))) own += 1;
      if (all >= maxRegistered || ofNamespace >= maxOfNamespace || own >= maxOfIdentity) return false;
    }
    return true;
  }

  /** A machine that comes from another server is as healthy as it was there. */
  async function come(key: string, one: Registered): Promise<void> {
    const found = await store.get(key);
    const before = found.kind === "found" ? readRecord(found.bytes) : undefined;
    if (before?.isHealthy !== undefined && before.isGone !== true) one.record = { ...healthOf(before), ...one.record };
    await write(key, one);
    await trigger();
  }

  async function change(key: string, one: Registered): Promise<void> {
    if (one.streams === 0 || known.get(key) !== one) return;
    await write(key, one);
    await trigger();
  }

  /** Its last stream has ended. Nothing compiles otherwise for it: it may come back within the grace time. */
  async function part(key: string, one: Registered): Promise<void> {
    if (one.streams > 0 || known.get(key) !== one || one.etag === undefined) return;
    one.record = { ...one.record, disconnectedAtMs: now() };
    const stored = await store.put(key, bytesOf(one.record), { ifMatch: one.etag });
    if (stored.kind === "stored") one.etag = stored.etag;
  }

  /** It has come back within the grace time. */
  async function comeBack(key: string, one: Registered): Promise<void> {
    if (known.get(key) === one) await write(key, one);
  }

  /** Where another server has written since, the machine is there. */
  async function leave(key: string, one: Registered): Promise<void> {
    if (one.streams > 0 || known.get(key) !== one) return;
    known.delete(key);
    if (one.etag === undefined) return;
    const stored = await store.put(key, bytesOf({ ...one.record, isGone: true }), { ifMatch: one.etag });
    if (stored.kind === "stored") await trigger();
  }

  const renewing = setInterval(() => {
    for (const [key, one] of known) if (one.streams > 0) inTurn(() => write(key, one));
  }, renewMs);
  renewing.unref();

  return {
    connected(caller, claims) {
      const record = recordOf(server, caller, claims, now());
      if (record === undefined) return undefined;
      const key = recordKey(record);
      const before = known.get(key);
      if (before === undefined && known.size >= maxRegistered) return undefined;
      const one: Registered = before ?? {
        record,
        streams: 0,
        etag: undefined,
        leaving: undefined,
        changing: undefined,
      };
      known.set(key, one);
      one.streams += 1;
      clearTimeout(one.leaving);
      if (before === undefined) inTurn(() => come(key, one));
      else if (before.streams === 1) {
        one.record = { ...record, ...healthOf(before.record) };
        inTurn(() => comeBack(key, one));
      }
      let isOpen = true;
      return {
        health(failure) {
          const isHealthy = failure === undefined;
          if (!isOpen || one.record.isHealthy === isHealthy) return;
          const { isHealthy: _, failure: __, ...record } = one.record;
          const said = failure ? { failure: cutText(failure, maxFailureBytes) } : {};
          one.record = { ...record, isHealthy, ...said };
          one.changing ??= setTimeout(() => {
            one.changing = undefined;
            inTurn(() => change(key, one));
          }, settleMs);
          one.changing.unref();
        },
        ended() {
          if (!isOpen) return;
          isOpen = false;
          one.streams -= 1;
          if (one.streams > 0 || known.get(key) !== one) return;
          inTurn(() => part(key, one));
          one.leaving = setTimeout(() => inTurn(() => leave(key, one)), graceMs);
          one.leaving.unref();
        },
      };
    },
    close() {
      clearInterval(renewing);
      for (const { leaving, changing } of known.values()) {
        clearTimeout(leaving);
        clearTimeout(changing);
      }
      known.clear();
    },
  };
}

const healthOf = ({ isHealthy, failure }: RegisteredRecord) => ({
  ...(isHealthy === undefined ? {} : { isHealthy }),
  ...(failure === undefined ? {} : { failure }),
});

const bytesOf = (record: RegisteredRecord) => new TextEncoder().encode(JSON.stringify(record));

/** Of what a node says, the group and the address alone: labels, network and locality are the group's to say. */
function recordOf(
  server: string,
  caller: Caller,
  claims: NodeClaims,
  connectedAtMs: number,
): RegisteredRecord | undefined {
  const group = textOf(claims.metadata[groupMember]);
  const address = parseNodeId(claims.id)?.address ?? "";
  if (group === "" || isIP(address) === 0 || caller.kind !== "node" || caller.serviceAccount === undefined)
    return undefined;
  if (misfit(caller, claims) !== undefined) return undefined;
  const { namespace, serviceAccount } = caller;
  const record = { namespace, serviceAccount, group, address, server, connectedAtMs };
  // Room for what is added later; a control character of the failure takes six bytes of JSON.
  return bytesOf(record).length < maxRecordBytes - 100 - 6 * maxFailureBytes ? record : undefined;
}
