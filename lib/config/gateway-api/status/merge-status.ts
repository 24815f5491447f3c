import { type Fields, fieldsOf, isFields, listOf, textOf } from "../../../base/untyped.ts";
import { parentText, readParentReference } from "../parent-text.ts";
import type { Condition, GatewayApiStatus, GatewayStatus, ListenerStatus, StatusAddress } from "./status.ts";

/** More than these a policy's status does not hold. */
const mostAncestors = 16;

export interface MergeOptions {
  /** Of the object, which references without one mean. */
  readonly namespace: string;
  /** Names of the controllers whose entries are ours: they are replaced, or taken away; all others stay. */
  readonly controllers: readonly string[];
  /** Since when a condition has its status where that is new; absent: nobody says. */
  readonly now?: string;
}

/**
 * What is to be said of an object put into the status that it has: what others have said stays and everything keeps its
 * place, and a condition keeps its time as long as its status stays.
 *
 * @param written the status as it is now; nobody has validated it
 * @see istio 1.30.3 pilot/pkg/config/kube/gateway/conditions.go, createRouteStatus and setConditions
 */
export function mergedStatus(written: unknown, fresh: GatewayApiStatus, options: MergeOptions): GatewayApiStatus {
  const before = fieldsOf(written);
  if ("parents" in fresh) {
    const textOfParent = (entry: unknown): string =>
      parentText(readParentReference(fieldsOf(entry).parentRef), options.namespace);
    return { ...before, parents: mergedEntries(before.parents, fresh.parents, textOfParent, options) };
  }
  if ("ancestors" in fresh) {
    const ancestors = mergedEntries(before.ancestors, fresh.ancestors, ancestorText, options);
    return { ...before, ancestors: ancestors.slice(0, mostAncestors) };
  }
  return gatewayStatus(before, fresh, options);
}

function gatewayStatus(before: Fields, fresh: GatewayStatus, options: MergeOptions): GatewayStatus {
  const {
    addresses: told,
    attachedListenerSets: _sets,
    conditions: _conditions,
    listeners: _listeners,
    ...others
  } = before;
  // An address that was told is not taken back while the gateway is somewhere else for a while.
  const addresses = fresh.addresses ?? listOf(told).map(readAddress);
  const { attachedListenerSets, listeners } = fresh;
  return {
    ...others,
    ...(addresses.length === 0 ? {} : { addresses }),
    ...(attachedListenerSets === undefined ? {} : { attachedListenerSets }),
    conditions: mergedConditions(before.conditions, fresh.conditions, options),
    ...(listeners === undefined ? {} : { listeners: mergedListeners(before.listeners, listeners, options) }),
  };
}

const readAddress = (address: unknown): StatusAddress => ({
  type: textOf(fieldsOf(address).type),
  value: textOf(fieldsOf(address).value),
});

function mergedListeners(
  written: unknown,
  fresh: readonly ListenerStatus[],
  options: MergeOptions,
): readonly ListenerStatus[] {
  const known = new Map(listOf(written).map((one) => [textOf(fieldsOf(one).name), fieldsOf(one).conditions]));
  return fresh.map((listener) => ({
    ...listener,
    conditions: mergedConditions(known.get(listener.name), listener.conditions, options),
  }));
}

/** The entries of several controllers: others' stay, ours are replaced where they stand or go, and new ones follow. */
function mergedEntries(
  written: unknown,
  fresh: readonly unknown[],
  identityOf: (entry: unknown) => string,
  options: MergeOptions,
): readonly unknown[] {
  const isOurs = (entry: unknown): boolean => options.controllers.includes(textOf(fieldsOf(entry).controllerName));
  const left = fresh.filter(isOurs);
  const kept = listOf(written).flatMap((entry): readonly unknown[] => {
    if (!isOurs(entry)) return [entry];
    const at = left.findIndex((one) => identityOf(one) === identityOf(entry));
    const [now] = at < 0 ? [] : left.splice(at, 1);
    return now === undefined ? [] : [withConditions(now, fieldsOf(entry).conditions, options)];
  });
  return [...kept, ...left.map((entry) => withConditions(entry, undefined, options))];
}

function withConditions(entry: unknown, written: unknown, options: MergeOptions): Fields {
  const { conditions, ...fields } = fieldsOf(entry);
  return {
    ...fields,
    conditions: mergedConditions(written, listOf(conditions).filter(isFields).map(readCondition), options),
  };
}

/** Conditions that are there keep their places, those that nobody speaks of stay, and new ones follow. */
function mergedConditions(written: unknown, fresh: readonly Condition[], { now }: MergeOptions): readonly Condition[] {
  const result = listOf(written).filter(isFields).map(readCondition);
  for (const condition of fresh) {
    const at = result.findIndex(({ type }) => type === condition.type);
    const before = result[at];
    const since =
      before?.status === condition.status ? (before.lastTransitionTime ?? now) : (condition.lastTransitionTime ?? now);
    const merged = { ...condition, ...(since === undefined ? {} : { lastTransitionTime: since }) };
    if (at < 0) result.push(merged);
    else result[at] = merged;
  }
  return result;
}

function readCondition(written: unknown): Condition {
  const { type, status, observedGeneration, reason, message, lastTransitionTime } = fieldsOf(written);
  return {
    type: textOf(type),
    status: status === "True" || status === "False" ? status : "Unknown",
    ...(typeof observedGeneration === "number" ? { observedGeneration } : {}),
    reason: textOf(reason),
    message: textOf(message),
    ...(typeof lastTransitionTime === "string" ? { lastTransitionTime } : {}),
  };
}

const ancestorFields = ["group", "kind", "name", "namespace", "sectionName", "port"];

function ancestorText(entry: unknown): string {
  const ref = fieldsOf(fieldsOf(entry).ancestorRef);
  return JSON.stringify(ancestorFields.map((field) => ref[field] ?? null));
}
