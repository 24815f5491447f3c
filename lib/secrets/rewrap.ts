import { PortolanError } from "../base/diagnostic.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { makeDataKey, open, readEnvelope, seal } from "./envelope.ts";
import type { KeyWrapper } from "./key-wrapper.ts";
import type { SecretKey } from "./secret-name.ts";
import { bytesOf, naming, objectKey, secretStore } from "./secret-store.ts";

/** How many secrets. */
export interface Rewrapped {
  readonly sealedAnew: number;
  readonly leftAlone: number;
}

/** Others that write a secret while it is sealed anew, as often as can be believed. */
const maxAttempts = 5;

/**
 * Seals anew what the first of the keys has not sealed, so that the others can go. Apart from the store, since no front does it.
 *
 * @throws PortolanError at the first secret that cannot be sealed anew; what was done stays done, and is not done again
 */
export async function rewrap(store: ObjectStore, wrapper: KeyWrapper): Promise<Rewrapped> {
  let sealedAnew = 0;
  let leftAlone = 0;
  for await (const key of secretStore(store, wrapper).list()) {
    const outcome = await rewrapOne(store, wrapper, key);
    if (outcome === "sealed anew") sealedAnew += 1;
    if (outcome === "left alone") leftAlone += 1;
  }
  return { sealedAnew, leftAlone };
}

type Outcome = "sealed anew" | "left alone" | "gone";

async function rewrapOne(store: ObjectStore, wrapper: KeyWrapper, key: SecretKey): Promise<Outcome> {
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const found = await store.get(objectKey(key));
    if (found.kind !== "found") return "gone";
    const fresh = await naming(key, async () => {
      const envelope = readEnvelope(found.bytes);
      const dataKey = await makeDataKey(wrapper, key);
      // Whoever may wrap with the first key need not be able to open what it has wrapped.
      if (dataKey.wrapped.id === envelope.key.id) return undefined;
      return seal(dataKey, key, await open(wrapper, key, envelope));
    });
    if (fresh === undefined) return "left alone";
    const { kind } = await store.put(objectKey(key), bytesOf(fresh), { ifMatch: found.etag });
    if (kind === "stored") return "sealed anew";
  }
  throw new PortolanError(`the secret ${key.namespace}/${key.name} is written by others all the time`);
}
