import { registeredByAnnotation } from "../../config/kinds/workload-entry.ts";
import { groupAnnotation } from "../../registry/service-entry/workload.ts";
import {
  entryName,
  type RegisteredRecord,
  readRecord,
  registeredMs,
  registeredPrefix,
} from "../../snapshot/nodes/registered.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { recordsIn, withoutOld } from "./lists/left-records.ts";
import { listKey } from "./source-shard.ts";
import { writeShard } from "./write-shard.ts";

/** The source that holds WorkloadEntries of machines that have registered themselves. */
const registeredSource = "registered";

/**
 * Fills the source of registered machines with the records that servers have written. Records that are too old are deleted.
 *
 * @param now the store's clock as well as it is known
 */
export async function fillRegistered(store: ObjectStore, now: () => number): Promise<void> {
  const [listed, filled] = await Promise.all([
    recordsIn(store, registeredPrefix),
    store.get(listKey(registeredSource)),
  ]);
  if (listed.length === 0 && filled.kind === "absent") return;
  const live = await withoutOld(store, listed, registeredMs, now);
  const found = await Promise.all(live.map(({ key }) => store.get(key)));
  const records = found.map((one) => (one.kind === "found" ? readRecord(one.bytes) : undefined));
  const documents = records.flatMap((record) =>
    record === undefined || record.isGone === true ? [] : [JSON.stringify(entryOf(record))],
  );
  // By what they say, and not by their keys, which are hashes.
  const text = documents.sort().join("\n---\n");
  const files = text === "" ? [] : [{ file: "registered.yaml", text: `${text}\n` }];
  await writeShard(store, registeredSource, files, { allowEmpty: true });
}

/** The entry without what its group says: that is added where all sources are known. */
function entryOf(record: RegisteredRecord): object {
  const { namespace, serviceAccount, group, address, isHealthy } = record;
  const conditions = [{ type: "Healthy", status: isHealthy === true ? "True" : "False" }];
  return {
    apiVersion: "networking.istio.io/v1",
    kind: "WorkloadEntry",
    metadata: {
      name: entryName(record),
      namespace,
      annotations: { [groupAnnotation]: group, [registeredByAnnotation]: serviceAccount },
    },
    spec: { address },
    ...(isHealthy === undefined ? {} : { status: { conditions } }),
  };
}
