import { PortolanError } from "../base/diagnostic.ts";
import { lastRoot, newestConfiguration, newestRoot, type ReadHead } from "../snapshot/head/head.ts";
import {
  type Moved,
  needHead,
  pinOf,
  rollback,
  rollbackTarget,
  setCanary,
  toldAlike,
  transitionWith,
  type Word,
} from "../snapshot/head/head-operations.ts";
import { holding, rolledBack, withCanary } from "../snapshot/head/rollout-targets.ts";
import { type AuditInfo, createTransition, type Mutation, type TransitionResult } from "../snapshot/head/transition.ts";
import { readOnce } from "../snapshot/memoize/read-once.ts";
import { configurationOf } from "../snapshot/publish.ts";
import { withRetained } from "../snapshot/retained.ts";
import { isUnread } from "../snapshot/reuse/stored-part.ts";
import type { Configuration, Share, StoredRoot } from "../snapshot/root.ts";
import { storedRoot } from "../snapshot/stored-root.ts";
import { createWorldEncoder } from "../snapshot/worlds/encode-world.ts";
import { compilerVersion } from "./compile.ts";
import { everWithheldVersions, nothingWithheld } from "./isolation/withheld-sources.ts";
import { createPublishers } from "./recompile/publishers.ts";
import type { HeldOnly, RecompileOptions } from "./recompile/recompiled.ts";
import { createReusingCompiler } from "./recompile/reusing-compiler.ts";
import { SourceNotKept } from "./shards/pinned-configuration.ts";
import { createUnreadSources } from "./shards/unread-sources.ts";
import { unwatched } from "./telemetry/observer.ts";
import { NothingFilled } from "./world/nothing-filled.ts";

/** What operators do with HEAD that leads to earlier configuration: it is compiled with the newest services and endpoints first. */
export interface Rollout {
  /**
   * Leads everybody back to the configuration of an earlier publication in one write of HEAD, and holds it there. Services and endpoints
   * are the newest, and are followed. Where they cannot be compiled, the earlier version is served as it was, and `stale` says why.
   *
   * @param back how many configurations to go back among those that were served, 1 for the one before; what a rollback left is none of
   *   them. Or a root that has the configuration
   * @throws PortolanError as `rollback` of the snapshot does
   */
  rollback(back: number | string, auditInfo?: Word): Promise<Moved>;
  /**
   * Tries the configuration of a root on a part of the nodes, which get the newest services and endpoints like all others.
   *
   * @throws PortolanError when it cannot be compiled, or another operator came in between
   */
  canary(root: string, share: Share, auditInfo?: Word): Promise<Moved>;
}

export type RolloutOptions = Pick<RecompileOptions, "store" | "publisher" | "build">;

/** Remembers between calls what it compiled. */
export function createRollout({ store, publisher = {}, build }: RolloutOptions): Rollout {
  const transitionTo = createConfigurationTransition({ store, publisher, build });
  const transitionAsIs = createTransition(store, createWorldEncoder(), publisher);
  return {
    async rollback(back, auditInfo = {}) {
      const options = { ...publisher, ...auditInfo };
      const base = await needHead(store, publisher);
      const { root, back: to } = await rollbackTarget(store, base.head, back);
      const configuration = configurationIn(await storedRoot(store, root), root);
      const asItWas = async (reason: string, held?: Configuration): Promise<Moved> => ({
        ...(await rollback(store, root, options, held)),
        stale: reason,
      });
      if (configuration === undefined) return asItWas(`${unknownSources}; ${untilUnpin}`);
      const deed = { reason: "rollback", options, back: to } as const;
      try {
        const moved = await transitionWith(store, base, deed, (read, note) =>
          transitionTo(read, configuration, note, (compiled) => (targets, at) => {
            const pin = holding(pinOf(note, auditInfo, at.nowMs), compiled);
            return rolledBack(targets, at.compiled ?? "", pin);
          }),
        );
        return await toldAlike(store, moved);
      } catch (cause) {
        if (!(cause instanceof NotCompiled)) throw cause;
        // A rollback has to work where a compile does not.
        return cause.isForGood
          ? asItWas(`${cause.message}; ${untilUnpin}`)
          : asItWas(
              `${cause.message}; \`portolan recompile\` leads on to the newest once that is mended`,
              configuration,
            );
      }
    },
    async canary(root, share, auditInfo = {}) {
      const options = { ...publisher, ...auditInfo };
      const base = await needHead(store, publisher);
      const configuration = configurationIn(await storedRoot(store, root), root);
      const served = await storedRoot(store, lastRoot(base.head.steps));
      const asItIs = async (reason: string): Promise<Moved> => ({
        ...(await setCanary(store, { root, ...share }, options)),
        stale: `${reason}; ${untilItsEnd}`,
      });
      if (configuration === undefined) return asItIs(unknownSources);
      if (served.compiler !== compilerVersion) return asItIs(otherVersion(served.compiler));
      try {
        const newest = await storedRoot(store, newestRoot(base.head));
        if (newestConfiguration(base.head) === configuration.version && newest.compiler !== compilerVersion)
          return await asItIs(otherVersion(newest.compiler));
        return await transitionWith(store, base, { reason: "canary", options }, (read, note) =>
          newestConfiguration(read.head) === configuration.version
            ? transitionAsIs(
                read,
                (targets) => withCanary(targets, { root: targets.newest, ...share, configuration }),
                note,
              )
            : transitionTo(read, configuration, note, (compiled) => (targets, at) => {
                const tried = { root: at.compiled ?? "", ...share, configuration: compiled };
                return withCanary(targets, tried);
              }),
        );
      } catch (cause) {
        if (!(cause instanceof NotCompiled) || !cause.isForGood) throw cause;
        return asItIs(cause.message);
      }
    },
  };
}

const unknownSources = "the version names no source that it was compiled from";
const otherVersion = (compiler: string): string =>
  `what it is compared with was compiled by ${compiler}, and this is ${compilerVersion}`;
const untilUnpin = "they stay unchanged until `portolan unpin`";
const untilItsEnd = "they stay unchanged until the canary ends";

/** Configuration could not be compiled with the newest registries. */
class NotCompiled extends PortolanError {
  /** The configuration is kept no more, or there are no sources. */
  readonly isForGood: boolean;
  constructor(cause: PortolanError) {
    super(cause.message, cause.diagnostics, cause);
    this.isForGood = cause instanceof SourceNotKept || cause instanceof NothingFilled;
  }
}

/**
 * One attempt to lead HEAD to what a configuration comes to with the newest registries.
 *
 * @param act of the configuration as it is named now that it was compiled
 * @throws NotCompiled
 */
type ConfigurationTransition = (
  base: ReadHead,
  configuration: Configuration,
  note: AuditInfo,
  mutation: (compiled: Configuration) => Mutation,
) => Promise<TransitionResult>;

function createConfigurationTransition({ store: below, publisher, build }: RolloutOptions): ConfigurationTransition {
  const { store, forget } = readOnce(below);
  const encoder = createWorldEncoder();
  let heldBack = nothingWithheld;
  const { compileHeld, reusable } = createReusingCompiler({ store, build, held: () => heldBack }, encoder);
  const publishers = createPublishers(store, encoder, publisher);
  const compile = async (base: ReadHead, configuration: Configuration): Promise<HeldOnly> => {
    try {
      // Nothing is compiled here that has ended a compile process: this one may be a front.
      heldBack = await everWithheldVersions(store, createUnreadSources(store, base).keeping);
      return await compileHeld(unwatched, base, configuration);
    } catch (cause) {
      throw cause instanceof PortolanError ? new NotCompiled(cause) : cause;
    }
  };
  const attempt: ConfigurationTransition = async (base, configuration, note, mutation) => {
    const { world, settings } = await compile(base, configuration);
    // Another version of Portolan may have named it otherwise, or not at all.
    const compiled = { ...configuration, version: world.configuration ?? configuration.version };
    try {
      const result = await publishers.of(settings.pollDelayMs).transition(world, base, mutation(compiled), note);
      if (result.kind !== "lost") reusable.moved(result.head);
      return result;
    } catch (cause) {
      if (!isUnread(cause)) throw cause;
      // Something that was taken from the store was collected meanwhile: the next attempt makes everything.
      reusable.drop();
      return { kind: "lost" };
    }
  };
  return (...asked) =>
    withRetained(async () => {
      forget();
      try {
        return await attempt(...asked);
      } finally {
        forget();
      }
    });
}

/** The configuration that a root was compiled from; undefined where no source is named. */
function configurationIn(root: StoredRoot, hash: string): Configuration | undefined {
  const { sources, configuration = hash } = root;
  return configurationOf({ sources, configuration });
}
