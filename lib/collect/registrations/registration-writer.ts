import { type Fields, fieldsOf, stringsOf, textOf } from "../../base/untyped.ts";
import { isWrittenBack } from "../../config/kinds/workload-entry.ts";
import { type ApiClient, type ApiFailure, jsonOf } from "../../registry/kubernetes/api/client.ts";
import type { ApiItem } from "../../registry/kubernetes/api/item.ts";
import type { ApiResource } from "../../registry/kubernetes/api/resource.ts";
import { defaultPace, type Pace } from "../../registry/origin/retry.ts";
import { entryName, type RegisteredRecord } from "../../snapshot/nodes/registered.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { type ClusterPasses, createClusterPasses } from "../cluster-passes.ts";
import { kubernetesTime, objectsOf, requestOf } from "../cluster-requests.ts";
import { liveRecords } from "./live-records.ts";
import { conditionsWith, entryObject, isElsewhere, saysSo, whyStrange, writtenOver } from "./workload-entry.ts";

export interface RegistrationWriterOptions {
  readonly client: ApiClient;
  /** With the records of servers. */
  readonly store: ObjectStore;
  /** Milliseconds between looks at the records; 5,000 when absent. */
  readonly everyMs?: number;
  /** Milliseconds after which the objects of the server are read again, whatever was written; 60,000 when absent. */
  readonly againMs?: number;
  readonly pace?: Pace;
  readonly now?: () => number;
  /** Milliseconds since the epoch; the system's clock when absent. */
  readonly today?: () => number;
  /** Called after WorkloadEntries were written or deleted. */
  readonly wrote?: (count: number) => void;
  /** Called with a reason that is another than before; with "" when all is well again. */
  readonly troubled?: (reason: string) => void;
}

/** Whose fields they are, for the server. */
const manager = "portolan-registrations";
const apiVersion = "networking.istio.io/v1";
const apply = "application/apply-patch+yaml";

const entriesPath = (namespace: string): string =>
  `/apis/${apiVersion}/namespaces/${encodeURIComponent(namespace)}/workloadentries`;

const resourceOf = (kind: string, plural: string): ApiResource => ({
  path: `/apis/${apiVersion}/${plural}`,
  apiVersion,
  kind,
});

/**
 * Writes WorkloadEntries of machines that have registered themselves into a cluster, and deletes them when the machines have gone.
 *
 * The records in the store decide what there is to be, so any number of these may run at a time: each object is written under the condition
 * that it is as it was read, and what one has written the other finds. Objects that were not made for a machine are never written, nor are
 * those that another control plane has taken over.
 */
export function createRegistrationWriter(options: RegistrationWriterOptions): ClusterPasses {
  const { client, store, everyMs = 5_000, againMs = 60_000, pace = defaultPace } = options;
  const { now = () => performance.now(), today = Date.now } = options;
  const read = liveRecords(store, today);
  /** The records that nothing is left to do about, as one text. */
  let settled: string | undefined;
  let lookedMs = Number.NEGATIVE_INFINITY;

  /** @returns the result; `later`: another client has written the object since it was read */
  async function write(wanted: Fields, record: RegisteredRecord, there: ApiItem | undefined): Promise<Written> {
    const path = entriesPath(record.namespace);
    const { name, namespace } = fieldsOf(wanted.metadata);
    const own = `${path}/${encodeURIComponent(textOf(name))}`;
    let object: Fields | undefined = there;
    let count = 0;
    if (there === undefined || !saysSo(there, wanted)) {
      const answer =
        there === undefined
          ? await requestOf(client, `${path}?fieldManager=${manager}`, { method: "POST", body: wanted })
          : await requestOf(client, `${own}?fieldManager=${manager}`, {
              method: "PUT",
              body: writtenOver(there, wanted),
            });
      if ("failure" in answer) return failed(answer.failure);
      count = 1;
      object = fieldsOf(await jsonOf(own, answer.response));
    }
    const instant = kubernetesTime(today());
    const conditions = conditionsWith(object?.status, record, instant);
    if (conditions === undefined) return { kind: "done", count };
    const body = { apiVersion, kind: "WorkloadEntry", metadata: { name, namespace }, status: { conditions } };
    const request = { method: "PATCH", contentType: apply, body } as const;
    const answer = await requestOf(client, `${own}/status?fieldManager=${manager}&force=true`, request);
    return "failure" in answer ? failed(answer.failure) : { kind: "done", count: 1 };
  }

  async function remove({ metadata }: ApiItem): Promise<Written> {
    const path = `${entriesPath(metadata.namespace ?? "")}/${encodeURIComponent(metadata.name)}`;
    const answer = await requestOf(client, path, {
      method: "DELETE",
      body: { preconditions: versionOf({ metadata }) },
    });
    return "failure" in answer && answer.failure.status !== 404 ? failed(answer.failure) : { kind: "done", count: 1 };
  }

  /** @returns why entries were not written, "" where all are as they should be @throws PortolanError when nothing can be said */
  async function pass(): Promise<string> {
    const records = await read();
    const text = JSON.stringify([...records]);
    if (settled === text && now() - lookedMs <= againMs) return "";
    settled = undefined;
    lookedMs = now();
    const [groups, entries] = await Promise.all([
      objectsOf(client, resourceOf("WorkloadGroup", "workloadgroups"), pace),
      objectsOf(client, resourceOf("WorkloadEntry", "workloadentries"), pace),
    ]);
    const refusals: string[] = [];
    const wanted = new Set<string>();
    let written = 0;
    let isWhole = true;
    const note = (name: string, done: Written): void => {
      if (done.kind === "done") written += done.count;
      else if (done.kind === "later") isWhole = false;
      else refusals.push(`${name}: ${done.reason}`);
    };
    for (const record of records.values()) {
      const { namespace, group } = record;
      const found = groups.get(`${namespace}/${group}`);
      const object = found && entryObject(record, found);
      const name = `${namespace}/${entryName(record)}`;
      const there = entries.get(name);
      if (object === undefined || wanted.has(name)) continue;
      wanted.add(name);
      const strange = there && whyStrange(there, record);
      if (strange !== undefined) note(name, { kind: "refused", reason: strange });
      else if (there === undefined || !isElsewhere(there, record)) note(name, await write(object, record, there));
    }
    for (const [name, entry] of entries)
      if (!wanted.has(name) && isWrittenBack(stringsOf(entry.metadata.annotations))) note(name, await remove(entry));
    // What could not be written is tried again with the next look.
    if (isWhole && refusals.length === 0) settled = text;
    if (written > 0) options.wrote?.(written);
    const [first] = refusals;
    return first === undefined ? "" : `${refusals.length} WorkloadEntries were not written; the first, ${first}`;
  }

  return createClusterPasses(pass, { everyMs, pace, troubled: options.troubled });
}

type Written =
  | { readonly kind: "done"; readonly count: number }
  | { readonly kind: "later" }
  | { readonly kind: "refused"; readonly reason: string };

const failed = ({ status, message }: ApiFailure): Written =>
  status === 409 || status === 404 ? { kind: "later" } : { kind: "refused", reason: `${status} ${message}` };

const versionOf = ({ metadata }: Pick<ApiItem, "metadata">): Fields => {
  const { uid, resourceVersion } = metadata;
  return { uid, resourceVersion };
};
