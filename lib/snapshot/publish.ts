import { PortolanError } from "../base/diagnostic.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import type { CompiledWorld } from "./compiled.ts";
import { type ReadHead, readHead } from "./head/head.ts";
import { refuseNewerRoots } from "./head/history/newer-roots.ts";
import { holding, published, triedOut } from "./head/rollout-targets.ts";
import {
  type AuditInfo,
  type Beside,
  createTransition,
  type Mutation,
  type TransitionOptions,
  type TransitionResult,
} from "./head/transition.ts";
import type { Canary, Configuration, Head, Pin, Share } from "./root.ts";
import { createBlobCheck } from "./upkeep/blob-check.ts";
import { createWorldCheck, type WorldCheck } from "./worlds/check-world.ts";
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

/** Worlds of the registries of one that is published, with configuration that HEAD holds. */
export interface HeldWorlds {
  /** For everybody, with what it is held at; absent: nothing is held, or the root stays as it is. */
  readonly everybody?: { readonly world: CompiledWorld; readonly configuration: Configuration } | undefined;
  /** For the canary; absent: there is none, or its root stays as it is. */
  readonly canary?: CompiledWorld | undefined;
  /** What is tried on a part of the nodes was compiled by another version of Portolan: both it and the rest stay as they are. */
  readonly isVersionTrial?: boolean;
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
   * @throws PortolanError when a world is not whole; see `createWorldCheck`; NothingToDifferFrom for a share
   */
  publish(
    world: CompiledWorld,
    base: ReadHead | undefined,
    publishing?: Publishing,
    beside?: Beside,
    held?: HeldWorlds,
  ): Promise<PublishResult>;
  /** Leads HEAD to a world for an operator. @throws PortolanError when the world is not whole */
  transition(world: CompiledWorld, base: ReadHead, mutation: Mutation, note: AuditInfo): Promise<TransitionResult>;
  /** Writes a world's blobs without making HEAD name them: for a canary. @returns hash of its root */
  stage(world: CompiledWorld): Promise<string>;
}

export type PublisherOptions = TransitionOptions;

/** @param encoder one that remembers what whoever publishes has encoded already */
export function createPublisher(
  store: ObjectStore,
  options: PublisherOptions = {},
  encoder: WorldEncoder = createWorldEncoder(),
): Publisher {
  const transition = createTransition(store, encoder, options);
  const check = createWorldCheck(encoder.columns);

  return {
    head: () => readHead(store, options),
    async transition(world, base, mutation, note) {
      refuseHoles(check, world);
      return transition(base, mutation, note, world);
    },
    async stage(world) {
      const encoded = encoder.encode(world);
      await writeBlobs(store, createBlobCheck(store), [encoded], { there: [], found: [] });
      return encoded.rootBlob.hash;
    },
    async publish(world, base, { reason = "publish", by = "", why = "", share } = {}, beside = {}, held = {}) {
      const { everybody, canary } = held;
      for (const one of new Set([world, everybody?.world, canary])) if (one !== undefined) refuseHoles(check, one);
      checkShare(share, base);
      const pin = (nowMs: number): Pin =>
        holding(
          { by, why: why || "a canary is tried", since: new Date(nowMs).toISOString() },
          everybody?.configuration,
        );
      const mutation: Mutation = (targets, { nowMs, compiled = "", rootOf }) => {
        const roots = {
          newest: compiled,
          everybody: everybody && rootOf(everybody.world),
          canary: canary && rootOf(canary),
        };
        if (share === undefined) return published(targets, roots);
        const configuration = held.isVersionTrial === true ? undefined : configurationOf(world);
        return triedOut(targets, roots, { share, configuration, pin: pin(nowMs) });
      };
      const result = await transition(
        base,
        mutation,
        { reason: share === undefined ? reason : "canary", by, why },
        world,
        beside,
      );
      if (result.kind === "lost") return result;
      const { head, targets } = result;
      const root = targets.newest;
      const { written } = result;
      const outcome = { head, root, written, unread: result.kind === "led" ? result.unread : [] };
      if (share !== undefined) return { kind: "canary", ...outcome, ...replacedBy(targets.canary, base) };
      if (targets.pin !== undefined) return { kind: "pinned", ...outcome };
      return { kind: result.kind === "led" ? "published" : "unchanged", ...outcome };
    },
  };
}

/** @throws PortolanError for a world in which something is named that is not there */
function refuseHoles(check: WorldCheck, world: CompiledWorld): void {
  const problems = check(world);
  if (problems.length === 0) return;
  // What was left out is why something is missing, and says whose fault it is.
  const refused = world.diagnostics.filter(({ code }) => code === "resource-refused");
  throw new PortolanError(`the compiled world is not whole: ${firstOf(problems)}`, refused);
}

/**
 * The configuration that a world or a root was compiled from.
 *
 * @returns undefined where that is not known, and where no source holds any of it
 */
export function configurationOf({
  configuration,
  sources,
}: Pick<CompiledWorld, "configuration" | "sources">): Configuration | undefined {
  if (configuration === undefined || sources.length === 0) return undefined;
  const versions = sources.map((source) => ({ name: source.name, version: source.configuration ?? source.version }));
  return { version: configuration, sources: versions.filter(({ version }) => version !== "") };
}

/** The canary that ended. @param now the one that runs now, if one does */
function replacedBy(now: Canary | undefined, base: ReadHead | undefined): { readonly replaced?: Canary } {
  const replaced = base?.head.canary;
  return replaced === undefined || nameOf(replaced) === nameOf(now) ? {} : { replaced };
}

/** What a canary tries: its root follows endpoints. */
const nameOf = (canary: Canary | undefined): string | undefined => canary?.configuration?.version ?? canary?.root;

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
