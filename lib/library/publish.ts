import { PortolanError } from "../base/diagnostic.ts";
import type { CompiledWorld } from "../snapshot/compiled.ts";
import { createPublisher } from "../snapshot/publish.ts";
import type { ObjectStore } from "../storage/object-store.ts";

/** By whom a world is published, and why, for its history. */
export interface PublishOptions {
  readonly by?: string;
  readonly why?: string;
}

export interface Published {
  /** `unchanged`: that very world is in force already; `pinned`: it is recorded, and a pin holds what is served. */
  readonly kind: "published" | "unchanged" | "pinned";
  /** Hash of its root. */
  readonly root: string;
  /** Of HEAD; grows by one with each write. */
  readonly generation: number;
}

/**
 * Writes a compiled world into a store, and leads HEAD to it, by steps that drop no request.
 *
 * @throws PortolanError when the store fails, when somebody else has moved HEAD meanwhile (compile the newest input, and publish that), or
 * when the world is not whole; HEAD is untouched then
 */
export async function publish(
  store: ObjectStore,
  world: CompiledWorld,
  options: PublishOptions = {},
): Promise<Published> {
  const publisher = createPublisher(store);
  const result = await publisher.publish(world, await publisher.head(), options);
  switch (result.kind) {
    case "published":
    case "unchanged":
    case "pinned":
      return { kind: result.kind, root: result.root, generation: result.head.generation };
    default:
      throw new PortolanError("another process has published meanwhile: compile the newest input, and publish that");
  }
}
