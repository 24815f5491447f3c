import { PortolanError } from "../base/diagnostic.ts";
import { type Envelope, makeDataKey, open, readEnvelope, seal } from "../secrets/envelope.ts";
import type { KeyWrapper } from "../secrets/key-wrapper.ts";
import type { SecretKey } from "../secrets/secret-name.ts";
import { objectKey, ownNamespace } from "../secrets/secret-store.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import type { Authority } from "./authority.ts";

/** Names the CA among sealed texts. No secret of a gateway can take its place. */
const sealedAs: SecretKey = { namespace: ownNamespace, name: "authority" };

/** Where the CA lies in a store: beside secrets, so that whoever may read or write those may do so with it, and nobody else. */
export const authorityKey = objectKey(sealedAs);

/** What a store without a CA lacks, as a message. */
export const noAuthority = "the store holds no CA: `portolan ca init` makes one, `portolan ca import` brings one";

/** A CA as it was read, and the tag by which a change is known. */
export interface StoredAuthority {
  readonly authority: Authority;
  readonly envelope: Envelope;
  readonly etag: string;
}

/** The CA of a mesh in an object store: as a whole in one envelope, so that its roots cannot be changed without the key either. */
export interface AuthorityStore {
  /**
   * @param before what the caller has: while it is what is stored it is opened again, so that a key that was taken away ends it
   * @param onStale hears of a store that cannot be read; `before` is what counts then. Absent: that is thrown
   * @returns undefined where there is no CA
   * @throws PortolanError when it cannot be read or opened
   */
  read(before?: StoredAuthority, onStale?: (cause: unknown) => void): Promise<StoredAuthority | undefined>;
  /**
   * @param before what the new one was made from; absent: there must be none
   * @throws PortolanError when another command was faster
   */
  write(authority: Authority, before: StoredAuthority | undefined): Promise<void>;
}

export function authorityStore(store: ObjectStore, wrapper: KeyWrapper): AuthorityStore {
  return {
    async read(before, onStale) {
      const found = await store
        .get(authorityKey, before === undefined ? {} : { ifNoneMatch: before.etag })
        .catch((cause: unknown) => {
          if (before === undefined || onStale === undefined) throw cause;
          onStale(cause);
          return { kind: "unchanged" } as const;
        });
      if (found.kind === "absent") return undefined;
      return naming(async () => {
        const stored = found.kind === "unchanged" ? before : { envelope: readEnvelope(found.bytes), etag: found.etag };
        if (stored === undefined) return undefined;
        const { envelope, etag } = stored;
        // What could be opened was sealed below.
        return { authority: JSON.parse(await open(wrapper, sealedAs, envelope)), envelope, etag };
      });
    },
    async write(authority, before) {
      const envelope = await naming(async () =>
        seal(await makeDataKey(wrapper, sealedAs), sealedAs, JSON.stringify(authority)),
      );
      const bytes = new TextEncoder().encode(JSON.stringify(envelope));
      const condition = before === undefined ? ({ ifNoneMatch: "*" } as const) : { ifMatch: before.etag };
      const { kind } = await store.put(authorityKey, bytes, condition);
      if (kind === "lost")
        throw new PortolanError("another command changed the CA at the same time: nothing was written. Try again.");
    },
  };
}

async function naming<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof PortolanError)) throw cause;
    throw new PortolanError(`the CA in the store: ${cause.message}`, [], cause);
  }
}
