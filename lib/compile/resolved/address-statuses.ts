import { fieldsOf, numberOf, textOf } from "../../base/untyped.ts";
import { isOfKind } from "../../mesh/index/configs-by-kind.ts";
import type { CompiledStatus } from "../../snapshot/compiled.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { createCollectedReader } from "../collected/collected-shard.ts";
import { readCollected } from "../collected/read-collected.ts";
import { allocatedTo, statusAddresses, takesAddresses } from "./allocated-addresses.ts";
import { storedFacts } from "./stored-facts.ts";

/**
 * What is to be written into the statuses of a source's ServiceEntries: the addresses that a resolver has given to hosts which had none. An
 * entry that takes no addresses any more is to have none. No root holds this, since the source of the resolver does.
 */
export async function addressStatuses(store: ObjectStore, source: string): Promise<readonly CompiledStatus[]> {
  const { addresses = [] } = await storedFacts(store);
  if (addresses.length === 0) return [];
  const shard = await createCollectedReader(store, source)();
  if (shard === undefined) return [];
  const given = new Map(addresses.map((one) => [one.service, one.addresses]));
  return [...shard.objects.values()].flatMap((origin): readonly CompiledStatus[] => {
    if (!origin.key.startsWith("ServiceEntry/")) return [];
    const { config } = readCollected(shard, origin);
    if (config === undefined || !isOfKind(config, "ServiceEntry")) return [];
    const added = allocatedTo(config, given);
    const isLeft = !takesAddresses(config) && statusAddresses(config.status).length > 0;
    const { uid, generation } = fieldsOf(origin.object.metadata);
    return added.length === 0 && !isLeft
      ? []
      : [
          {
            object: origin.key,
            generation: numberOf(generation) ?? 0,
            ...(uid === undefined ? {} : { uid: textOf(uid) }),
            status: { addresses: added },
          },
        ];
  });
}
