import type { AgentFolder } from "../files/agent-folder.ts";
import {
  type CollectionKind,
  collectionOf,
  type Entries,
  type EnvoyFiles,
  type FileContent,
  type Leaf,
  pathsNamed,
} from "../files/envoy-files.ts";
import { createCollection } from "./collection.ts";
import { createLeaves } from "./leaves.ts";
import { createRefusedResources, type RefusedResource } from "./refused-resources.ts";
import { createMoments, type ReadingEnvoy, untilWarm } from "./until-taken.ts";

/** Leads Envoys to files. */
export interface TakeIn {
  /**
   * Leads Envoy to these files: what others need first, each file only if it is another, what may still be used last. Without an
   * Envoy they are written for one that is to be started.
   *
   * @throws PortolanError when a file cannot be written, or Envoy goes away
   */
  lead(files: EnvoyFiles, envoy: ReadingEnvoy | undefined): Promise<Led>;
}

/** What has become of files. */
export interface Led {
  readonly refused: readonly RefusedResource[];
  /** Whether Envoy has said of everything that it has taken or refused it: what is not known is to be asked again. */
  readonly isKnown: boolean;
}

/** @param good what Envoy had taken when the agent began, of each collection */
export function createTakeIn(folder: AgentFolder, good: Readonly<Record<CollectionKind, Entries>>): TakeIn {
  const refused = createRefusedResources();
  const moments = createMoments();
  const clusters = createCollection("cds", folder, refused, moments, good.cds);
  const listeners = createCollection("lds", folder, refused, moments, good.lds);
  const leaves = createLeaves(folder, refused, moments);
  const named = () => pathsNamed(clusters.inForce(), listeners.inForce());

  /** @returns whether both collections have been heard of */
  async function leadRunning(files: EnvoyFiles, wanted: readonly Leaf[], envoy: ReadingEnvoy): Promise<boolean> {
    const gone = [...clusters.inForce()].filter(([name]) => !files.cds.has(name));
    const lds = collectionOf(listeners.allowed(files.lds));
    const isLedElsewhere = wanted.some(isRoute) || lds.version !== folder.versionOf(listeners.path);
    // Clusters that something may still lead to go last.
    const first: Entries = gone.length > 0 && isLedElsewhere ? new Map([...gone, ...files.cds]) : files.cds;
    const cds = collectionOf(clusters.allowed(first));
    const isNewCds = cds.version !== folder.versionOf(clusters.path);
    const early = wanted.filter((leaf) => !isRoute(leaf) || folder.versionOf(leaf.path) === undefined);
    const staged = await folder.stage(
      new Map([...wanted.map(fileOfLeaf), [clusters.path, cds], [listeners.path, lds]]),
    );
    try {
      await leaves.put(early, staged, envoy);
      await leaves.hear(named(), envoy);
      const isCdsKnown = await clusters.settle(first, envoy, staged);
      if (isNewCds && isLedElsewhere) await untilWarm(envoy);
      const late = wanted.filter((leaf) => !early.includes(leaf));
      await leaves.put(late, staged, envoy);
      if (late.length > 0) await leaves.hear(named(), envoy);
      const isLdsKnown = await listeners.settle(files.lds, envoy, staged);
      if (first === files.cds || !isCdsKnown || !isLdsKnown) return isCdsKnown && isLdsKnown;
      const last = await folder.stage(new Map([[clusters.path, collectionOf(clusters.allowed(files.cds))]]));
      return await clusters.settle(files.cds, envoy, last);
    } finally {
      await staged.discard();
    }
  }

  async function writeAll(files: EnvoyFiles, wanted: readonly Leaf[]): Promise<void> {
    const cds = collectionOf(clusters.allowed(files.cds));
    const lds = collectionOf(listeners.allowed(files.lds));
    const staged = await folder.stage(
      new Map([...wanted.map(fileOfLeaf), [clusters.path, cds], [listeners.path, lds]]),
    );
    try {
      await leaves.put(wanted, staged, undefined);
      for (const path of [clusters.path, listeners.path]) await staged.put(path);
    } finally {
      await staged.discard();
    }
  }

  return {
    async lead(files, envoy) {
      refused.reduceTo(files);
      const all = [...files.leaves.values()].filter(({ type, name, file }) => !refused.has(type, name, file.text));
      const wanted = all.filter(({ path, file }) => folder.versionOf(path) !== file.version);
      if (envoy === undefined) {
        await writeAll(files, wanted);
        return { refused: refused.all(), isKnown: false };
      }
      const there = all.filter((leaf) => !wanted.includes(leaf) && !folder.isKept(leaf.path));
      const areCollectionsKnown = await leadRunning(files, wanted, envoy);
      const read = named();
      await leaves.found(
        there.filter(({ path }) => read.has(path)),
        envoy,
      );
      // Some are read only since clusters and listeners are in force that name them.
      const areLeavesKnown = await leaves.hear(read, envoy);
      for (const path of folder.leaves()) {
        if (!files.leaves.has(path) && !read.has(path)) await folder.remove(path);
      }
      const isKnown = areCollectionsKnown && areLeavesKnown;
      if (isKnown) await moments.rest(envoy);
      return { refused: refused.all(), isKnown };
    },
  };
}

const isRoute = ({ type }: Leaf): boolean => type === "routes";

const fileOfLeaf = ({ path, file }: Leaf): readonly [string, FileContent] => [path, file];
