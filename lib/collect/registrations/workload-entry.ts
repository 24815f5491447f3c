/** The WorkloadEntry of a machine that has registered itself, as an API server holds it. */

import { type Fields, fieldsOf, listOf, stringsOf, textOf } from "../../base/untyped.ts";
import { accountOf, entryOfGroup } from "../../compile/registered-entries.ts";
import { controllerAnnotation, controllerPrefix, registeredByAnnotation } from "../../config/kinds/workload-entry.ts";
import { workloadGroup } from "../../config/schema/service-entry.ts";
import { sameValue } from "../../registry/changes/same.ts";
import { groupAnnotation } from "../../registry/service-entry/workload.ts";
import { entryName, type RegisteredRecord } from "../../snapshot/nodes/registered.ts";

/** @see istio 1.30.3 pilot/pkg/autoregistration/controller.go */
const connectedAnnotation = "istio.io/connectedAt";
const disconnectedAnnotation = "istio.io/disconnectedAt";

const timeText = (ms: number): string => new Date(ms).toISOString();

/**
 * The object without its status.
 *
 * @param group the WorkloadGroup, as the API server holds it; the entry goes with it
 * @returns undefined where the machine has not proven the group's service account: the compiler says so
 */
export function entryObject(record: RegisteredRecord, group: Fields): Fields | undefined {
  const read = workloadGroup.safeParse(group.spec);
  if (!read.success || accountOf({ spec: read.data }) !== record.serviceAccount) return undefined;
  const { labels, annotations, spec } = entryOfGroup(read.data, record.address);
  const { connectedAtMs, disconnectedAtMs, namespace, server } = record;
  const { name, uid } = fieldsOf(group.metadata);
  return {
    apiVersion: group.apiVersion,
    kind: "WorkloadEntry",
    metadata: {
      name: entryName(record),
      namespace,
      labels,
      annotations: {
        ...annotations,
        [groupAnnotation]: record.group,
        [registeredByAnnotation]: record.serviceAccount,
        [controllerAnnotation]: controllerPrefix + server,
        ...(disconnectedAtMs === undefined
          ? { ...(connectedAtMs === undefined ? {} : { [connectedAnnotation]: timeText(connectedAtMs) }) }
          : { [disconnectedAnnotation]: timeText(disconnectedAtMs) }),
      },
      ownerReferences: [{ apiVersion: group.apiVersion, kind: "WorkloadGroup", name, uid, controller: true }],
    },
    spec,
  };
}

const times = [connectedAnnotation, disconnectedAnnotation];

/** An object of a server with what is to be written: it stays the one that was read, and keeps other annotations but for times. */
export function writtenOver(there: Fields, wanted: Fields): Fields {
  const [metadata, own] = [fieldsOf(there.metadata), fieldsOf(wanted.metadata)];
  const others = Object.entries(stringsOf(metadata.annotations)).filter(([name]) => !times.includes(name));
  const annotations = { ...Object.fromEntries(others), ...stringsOf(own.annotations) };
  return { ...there, ...wanted, metadata: { ...metadata, ...own, annotations } };
}

/** Whether an object of a server says already what is to be written. */
export function saysSo(there: Fields, wanted: Fields): boolean {
  const [metadata, own] = [fieldsOf(there.metadata), fieldsOf(wanted.metadata)];
  const annotations = stringsOf(metadata.annotations);
  const isThere = (name: string, value: string | undefined) => annotations[name] === value;
  const wantedOnes = stringsOf(own.annotations);
  return (
    sameValue(there.spec, wanted.spec) &&
    sameValue(stringsOf(metadata.labels), own.labels) &&
    Object.entries(wantedOnes).every(([name, value]) => isThere(name, value)) &&
    times.every((name) => isThere(name, wantedOnes[name]))
  );
}

/** Another control plane has the machine, and got it later. */
export function isElsewhere(there: Fields, { connectedAtMs = 0 }: RegisteredRecord): boolean {
  const { [controllerAnnotation]: controller = "", [connectedAnnotation]: connected = "" } = stringsOf(
    fieldsOf(there.metadata).annotations,
  );
  return controller !== "" && !controller.startsWith(controllerPrefix) && Date.parse(connected) > connectedAtMs;
}

/** Why an object of the same name is not written: a user or another program owns it. Undefined where it may be written. */
export function whyStrange(there: Fields, { group, serviceAccount }: RegisteredRecord): string | undefined {
  const annotations = stringsOf(fieldsOf(there.metadata).annotations);
  if (annotations[groupAnnotation] !== group)
    return `it is no entry of a machine of the WorkloadGroup ${group}: rename it, or the WorkloadGroup`;
  const account = textOf(fieldsOf(there.spec).serviceAccount) || serviceAccount;
  if (account === serviceAccount) return undefined;
  return `it is for the service account ${account}, and the machine has proven ${serviceAccount}: delete it, or correct the WorkloadGroup`;
}

/**
 * The conditions of an entry with what the machine's agent says of its health.
 *
 * @param now as Kubernetes writes times
 * @returns undefined where they say so already, or nothing was said
 */
export function conditionsWith(
  there: unknown,
  { isHealthy, failure }: RegisteredRecord,
  now: string,
): readonly Fields[] | undefined {
  if (isHealthy === undefined) return undefined;
  const all = listOf(fieldsOf(there).conditions).map(fieldsOf);
  const before = all.find(({ type }) => type === "Healthy");
  const status = isHealthy ? "True" : "False";
  const message = failure ?? "";
  if (before !== undefined && before.status === status && textOf(before.message) === message) return undefined;
  const since = before !== undefined && before.status === status ? textOf(before.lastTransitionTime) || now : now;
  const said = { type: "Healthy", status, lastProbeTime: now, lastTransitionTime: since };
  return [...all.filter(({ type }) => type !== "Healthy"), message === "" ? said : { ...said, message }];
}
