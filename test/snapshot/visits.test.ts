import { describe, expect, it } from "vitest";
import type { CompiledList, CompiledPart, CompiledResource, CompiledWorld } from "../../lib/snapshot/compiled.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { resource, worldOf } from "./worlds.ts";

/** A resource that counts how often it is looked at. */
function counted({ name, text, version, from }: CompiledResource, look: () => void): CompiledResource {
  const seen = <T>(value: T): T => {
    look();
    return value;
  };
  return {
    get name() {
      return seen(name);
    },
    get text() {
      return seen(text);
    },
    get version() {
      return seen(version);
    },
    get from() {
      return seen(from);
    },
  };
}

const sharedNames = Array.from({ length: 300 }, (_, i) => `outbound|${1_000 + i}||x`);

/** Classes that share their clusters, but for one of its own that each has. */
function meshOf(shared: CompiledPart, own: readonly CompiledPart[]): CompiledWorld {
  const ids = own.map((_part, i) => `class-${100 + i}`);
  const world = worldOf(Object.fromEntries(ids.map((id) => [id, {}])));
  const classes = world.classes.map((proxyClass, i) => {
    const clusters: CompiledList = [own[i] ?? [], shared];
    return { ...proxyClass, stream: { ...proxyClass.stream, clusters }, poll: { ...proxyClass.poll, clusters } };
  });
  return { ...world, classes };
}

interface Looks {
  readonly inShared: number;
  readonly inOwn: number;
  readonly written: number;
}

/** What publishing costs after one resource of those that all classes share has changed. */
async function looksOfChange(classes: number): Promise<Looks> {
  const looks = { inShared: 0, inOwn: 0 };
  const before = sharedNames.map((name) =>
    counted(resource("clusters", name, "1".repeat(1_000)), () => {
      looks.inShared += 1;
    }),
  );
  const own = Array.from({ length: classes }, (_, i) => [
    counted(resource("clusters", `inbound|${i}||`, "1"), () => {
      looks.inOwn += 1;
    }),
  ]);
  const after = before.with(150, resource("clusters", sharedNames[150] ?? "", "2".repeat(1_000)));
  const store: ObjectStore = memoryStore();
  const publisher = createPublisher(store);
  await publisher.publish(meshOf(before, own), await publisher.head());
  Object.assign(looks, { inShared: 0, inOwn: 0 });
  const result = await publisher.publish(meshOf(after, own), await publisher.head());
  return { ...looks, written: result.kind === "lost" ? 0 : result.written.objects };
}

describe("publishing a change of what all classes share", () => {
  it("looks through it once, and of what a class has besides at the ends alone", async () => {
    const [few, many] = [await looksOfChange(10), await looksOfChange(100)];
    // Where a class's list goes over from one part to the next, both are looked at; nothing else grows with classes.
    const perClass = (many.inShared - few.inShared) / 90;
    expect(perClass).toBeLessThan(12);
    expect(few.inShared - 10 * perClass).toBeLessThan(6 * sharedNames.length);
    expect(many.inOwn / 100).toBeLessThan(12);
    expect(many.written).toBe(few.written);
  });
});
