import { PortolanError } from "../config/diagnostic.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import type { CompiledWorld } from "./compiled.ts";
import { published, triedOut } from "./head/aims.ts";
import { type ReadHead, readHead } from "./head/head.ts";
import { type Act, type Beside, createLeader, type LeadOptions } from "./head/lead.ts";
import { refuseNewerRoots } from "./head/newer-roots.ts";
import type { Canary, Head, Pin, Share } from "./root.ts";
import { createBlobCheck } from "./upkeep/blob-check.ts";
import { createWorldCheck } from "./worlds/check-world.ts";
import { createWorldEncoder, type WorldEncoder } from "./worlds/encode-world.ts";
import { type Written, writeBlobs } from "./write-blobs.ts";

export type PublishResult =
  | {
      /**
       * `unchanged`: HEAD leads to this very root already; `canary`: for a part of the nodes; `pinned`: recorded, and served to
       * nobody, since a pin holds what is served.
       */
      readonly kind: "published" | "unchanged" | "canary" | "pinned";
      readonly head: Head;
      /** Hash of the root that was published. */
      readonly root: string;
      readonly written: Written;
      /** What the canary's nodes had before, where another canary ended with this one; absent: none did. */
      readonly replaced?: Canary;
      /** Roots that nodes were led away from without steps, since they could not be read. */
      readonly unread: readonly string[];
    }
  /** Somebody else moved HEAD since `base` was read: read the sources again and compile anew. */
  | { readonly kind: "lost" };

/** How to publish, for whom, and by whom. */
export interface Publishing {
  readonly reason?: "publish" | "import";
  readonly by?: string;
  readonly why?: string;
  /** Only for these nodes: a canary. */
  readonly share?: Share;
}

/** Writes snapshots into one store. Keeps in memory what the next publish will compare with. */
export interface Publisher {
  /**
   * HEAD now; to be read before the sources that are compiled from, so that a newer world is never overwritten.
   *
   * @throws PortolanError when it is signed with none of the trusted keys: what it says would be signed anew
   */
  head(): Promise<ReadHead | undefined>;
  /**
   * Writes blobs, then roots, then HEAD. A reader sees all of it or nothing.
   *
   * @param base what `head` gave before the world was read
   * @throws PortolanError when the world is not whole; see `createWorldCheck`; NothingToDifferFrom for a share
   */
  publish(
    world: CompiledWorld,
    base: ReadHead | undefined,
    publishing?: Publishing,
    beside?: Beside,
  ): Promise<PublishResult>;
  /** Writes a world's blobs without making HEAD name them: for a canary. @returns hash of its root */
  stage(world: CompiledWorld): Promise<string>;
}

export type PublisherOptions = LeadOptions;

/** @param encoder one that remembers what whoever publishes has encoded already */
export function createPublisher(
  store: ObjectStore,
  options: PublisherOptions = {},
  encoder: WorldEncoder = createWorldEncoder(),
): Publisher {
  const lead = createLeader(store, encoder, options);
  const check = createWorldCheck(encoder.columns);

  return {
    head: () => readHead(store, options),
    async stage(world) {
      const encoded = encoder.encode(world);
      await writeBlobs(store, createBlobCheck(store), [encoded], { there: [], found: [] });
      return encoded.rootBlob.hash;
    },
    async publish(world, base, { reason = "publish", by = "", why = "", share } = {}, beside = {}) {
      const problems = check(world);
      if (problems.length > 0) {
        // What was left out is why something is missing, and says whose fault it is.
        const refused = world.diagnostics.filter(({ code }) => code === "resource-refused");
        throw new PortolanError(`the compiled world is not whole: ${firstOf(problems)}`, refused);
      }
      checkShare(share, base);
      const pin = (nowMs: number): Pin => ({
        by,
        why: why || "a canary is tried",
        since: new Date(nowMs).toISOString(),
      });
      const act: Act = (aims, { nowMs, compiled = "" }) =>
        share === undefined ? published(aims, compiled) : triedOut(aims, compiled, share, pin(nowMs));
      const led = await lead(base, act, { reason: share === undefined ? reason : "canary", by, why }, world, beside);
      if (led.kind === "lost") return led;
      const { head, aims } = led;
      const root = aims.newest;
      const { written } = led;
      const told = { head, root, written, unread: led.kind === "led" ? led.unread : [] };
      if (share !== undefined) return { kind: "canary", ...told, ...replacedBy(aims.canary?.root, base) };
      if (aims.pin !== undefined) return { kind: "pinned", ...told };
      return { kind: led.kind === "led" ? "published" : "unchanged", ...told };
    },
  };
}

/** The canary that ended. @param root of the one that runs now, if one does */
function replacedBy(root: string | undefined, base: ReadHead | undefined): { readonly replaced?: Canary } {
  const replaced = base?.head.canary;
  return replaced === undefined || replaced.root === root ? {} : { replaced };
}

function firstOf(problems: readonly string[]): string {
  const more = problems.length > 5 ? `; and ${problems.length - 5} more` : "";
  return problems.slice(0, 5).join("; ") + more;
}

/**
 * For whoever is about to fill a source: it would be there, and be published with the next change, although what is compiled of it now could not.
 *
 * @throws NewerFormat as `refuseNewerRoots`
 * @throws NothingToDifferFrom
 */
export async function checkBeforeFill(
  store: ObjectStore,
  publisher: PublisherOptions = {},
  share?: Share,
): Promise<void> {
  const head = await readHead(store, publisher);
  await refuseNewerRoots(store, head);
  checkShare(share, head);
}

/** A share of nodes is asked for where there is nothing that the others could have. */
export class NothingToDifferFrom extends PortolanError {}

function checkShare(share: Share | undefined, base: ReadHead | undefined): void {
  if (share === undefined || base !== undefined) return;
  throw new NothingToDifferFrom(
    "nothing was published yet that a canary could differ from; push without --canary first",
  );
}
