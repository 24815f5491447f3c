import { causeText } from "../../base/cause-text.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { type Fields, fieldsOf, numberOf, textOf } from "../../base/untyped.ts";
import { type ApiClient, type ApiRequest, apiError, jsonOf, send } from "../../registry/kubernetes/api/client.ts";
import { defaultPace, type Pace } from "../../registry/origin/retry.ts";

export interface LeaseOptions {
  readonly client: ApiClient;
  readonly namespace: string;
  readonly name: string;
  /** Tells this holder from every other one, that of an earlier run of this program included. */
  readonly holder: string;
  /** After so long without a sign of life it is anybody's; 15,000 when absent. */
  readonly durationMs?: number;
  readonly pace?: Pace;
  /** Milliseconds of any clock that goes on; the system's when absent. */
  readonly now?: () => number;
  /** Milliseconds since the epoch, for people; the system's clock when absent. */
  readonly today?: () => number;
}

/** A Lease of an API server, by which of several programs one acts. */
export interface Lease {
  /** Whether it is ours at this moment for certain: nobody else takes it before this ends. */
  isHeld(): boolean;
  /** Why it could not be asked for; "" when it could. */
  failure(): string;
  /** Takes it if it is free, or renews it. @throws PortolanError where the server does not say */
  take(): Promise<boolean>;
  /** Takes it as soon as it is free, and keeps it until the signal says stop; then it is given back. */
  keep(signal: AbortSignal, changed: () => void): Promise<void>;
  /** Gives it back, so that nobody has to wait for its end. Never throws. */
  release(): Promise<void>;
}

/**
 * Whose it is decides the record at the server, which is written under the condition that nobody else has written it. That a holder
 * is gone is told by its record standing still for as long as it says, by the clock of whoever looks: clocks need not agree.
 *
 * @see https://kubernetes.io/docs/concepts/architecture/leases/
 */
export function createLease(options: LeaseOptions): Lease {
  const { client, namespace, name, holder, durationMs = 15_000, pace = defaultPace } = options;
  const { now = () => performance.now(), today = Date.now } = options;
  const collection = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
  const path = `${collection}/${name}`;
  /** The record as it was first seen so, and when. */
  let seen: { readonly text: string; readonly atMs: number } | undefined;
  let heldUntilMs = Number.NEGATIVE_INFINITY;
  let failed = "";
  const isHeld = (): boolean => now() < heldUntilMs;

  const ask = (target: string, request: ApiRequest) =>
    send(client, target, { ...request, signal: AbortSignal.timeout(durationMs / 3) }).catch((cause: unknown) => {
      const reason = causeText(cause);
      throw new PortolanError(`the lease ${namespace}/${name} cannot be asked for: ${reason}`, [], cause);
    });
  const time = (): string => new Date(today()).toISOString().replace("Z", "000Z");
  const record = (more: Fields): Fields => ({
    holderIdentity: holder,
    leaseDurationSeconds: Math.max(1, Math.round(durationMs / 1000)),
    renewTime: time(),
    ...more,
  });

  /** @returns whether the record was written; somebody else may have been faster */
  async function write(method: "POST" | "PUT", target: string, metadata: Fields, spec: Fields): Promise<boolean> {
    const body = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec };
    const answer = await ask(target, { method, body });
    if ("response" in answer) return true;
    if (answer.failure.status === 409) return false;
    throw apiError(target, answer.failure);
  }

  async function attempt(): Promise<boolean> {
    const sinceMs = now();
    const found = await ask(path, {});
    let isOurs: boolean;
    if ("failure" in found) {
      if (found.failure.status !== 404) throw apiError(path, found.failure);
      const spec = record({ acquireTime: time(), leaseTransitions: 0 });
      isOurs = await write("POST", collection, { name, namespace }, spec);
    } else {
      const { metadata, spec } = fieldsOf(await jsonOf(path, found.response));
      const { holderIdentity, acquireTime, leaseTransitions } = fieldsOf(spec);
      const isMine = holderIdentity === holder;
      if (!isMine && !isFree(fieldsOf(spec), sinceMs)) return false;
      const { resourceVersion } = fieldsOf(metadata);
      const more = isMine
        ? { acquireTime, leaseTransitions }
        : { acquireTime: time(), leaseTransitions: (numberOf(leaseTransitions) ?? 0) + 1 };
      isOurs = await write("PUT", path, { name, namespace, resourceVersion }, record(more));
    }
    // Less than what others wait for: what is under way has an end before they begin.
    if (isOurs) heldUntilMs = sinceMs + (durationMs * 2) / 3;
    return isOurs;
  }

  function isFree(spec: Fields, atMs: number): boolean {
    if (textOf(spec.holderIdentity) === "") return true;
    const text = JSON.stringify(spec);
    if (seen?.text !== text) seen = { text, atMs };
    const lastsMs = (numberOf(spec.leaseDurationSeconds) ?? 0) * 1000;
    return atMs - seen.atMs > Math.max(durationMs, lastsMs);
  }

  async function take(): Promise<boolean> {
    try {
      const isTaken = await attempt();
      failed = "";
      return isTaken;
    } catch (cause) {
      failed = causeText(cause);
      throw cause;
    }
  }

  async function release(): Promise<void> {
    if (!isHeld()) return;
    heldUntilMs = Number.NEGATIVE_INFINITY;
    const found = await ask(path, {}).catch(() => undefined);
    if (found === undefined || "failure" in found) return;
    const { metadata, spec } = fieldsOf(await jsonOf(path, found.response));
    if (fieldsOf(spec).holderIdentity !== holder) return;
    const { resourceVersion } = fieldsOf(metadata);
    const free = { ...fieldsOf(spec), holderIdentity: "", leaseDurationSeconds: 1, renewTime: time() };
    await write("PUT", path, { name, namespace, resourceVersion }, free).catch(() => false);
  }

  return {
    isHeld,
    failure: () => failed,
    take,
    release,
    async keep(signal, changed) {
      let wasHeld = false;
      let told = "";
      while (!signal.aborted) {
        await take().catch(() => false);
        if (isHeld() !== wasHeld || failed !== told) changed();
        wasHeld = isHeld();
        told = failed;
        await pace.pause(wasHeld && failed === "" ? durationMs / 4 : durationMs / 8, signal);
      }
      await release();
    },
  };
}
