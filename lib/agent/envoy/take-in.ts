import type { AgentFolder, Staged } from "../files/agent-folder.ts";
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
import { createRefusedResources, type RefusedResource } from "./refused-resources.ts";
import { type ReadingEnvoy, untilTaken, untilWarm } from "./until-taken.ts";

/** Leads Envoys to files. */
export interface TakeIn {
  /**
   * Leads Envoy to these files: what others need first, each file only if it is another, what may still be used last. Without an
   * Envoy they are written for one that is to be started.
   *
   * @returns what is refused of them
   * @throws PortolanError when a file cannot be written, or Envoy goes away
   */
  lead(files: EnvoyFiles, envoy: ReadingEnvoy | undefined): Promise<readonly RefusedResource[]>;
}

/** How long to wait until files of one resource are in force. */
const leafMs = 3_000;

/** @param good what Envoy had taken when the agent began, of each collection */
export function createTakeIn(folder: AgentFolder, good: Readonly<Record<CollectionKind, Entries>>): TakeIn {
  const refused = createRefusedResources();
  const clusters = createCollection("cds", folder, refused, good.cds);
  const listeners = createCollection("lds", folder, refused, good.lds);
  const named = () => pathsNamed(clusters.inForce(), listeners.inForce());

  async function putLeaves(leaves: readonly Leaf[], staged: Staged, envoy: ReadingEnvoy | undefined): Promise<void> {
    const mark = envoy?.log.mark() ?? 0;
    for (const { path } of leaves) await staged.put(path);
    if (envoy === undefined || leaves.length === 0) return;
    const read = named();
    const versions = leaves.filter(({ path }) => read.has(path)).map(({ file }) => file.version);
    const said = versions.length === 0 ? new Map<string, string>() : await untilTaken(envoy, versions, mark, leafMs);
    for (const { path, type, name, file } of leaves) {
      const words = said.get(file.version);
      if (words === undefined) {
        // What nobody reads yet is kept when somebody has read it.
        if (read.has(path)) await folder.keep(path);
        continue;
      }
      refused.add({ type, name, text: file.text, words });
      const before = await folder.good(path);
      if (before !== undefined) await (await folder.stage(new Map([[path, before]]))).put(path);
    }
  }

  async function leadRunning(files: EnvoyFiles, wanted: readonly Leaf[], envoy: ReadingEnvoy): Promise<void> {
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
      await putLeaves(early, staged, envoy);
      await clusters.settle(first, envoy, staged);
      if (isNewCds && isLedElsewhere) await untilWarm(envoy);
      const late = wanted.filter((leaf) => !early.includes(leaf));
      await putLeaves(late, staged, envoy);
      await listeners.settle(files.lds, envoy, staged);
      if (first === files.cds) return;
      const last = await folder.stage(new Map([[clusters.path, collectionOf(clusters.allowed(files.cds))]]));
      await clusters.settle(files.cds, envoy, last);
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
      await putLeaves(wanted, staged, undefined);
      for (const path of [clusters.path, listeners.path]) await staged.put(path);
    } finally {
      await staged.discard();
    }
  }

  return {
    async lead(files, envoy) {
      refused.reduceTo(files);
      const wanted = [...files.leaves.values()].filter(
        ({ type, name, file, path }) => folder.versionOf(path) !== file.version && !refused.has(type, name, file.text),
      );
      if (envoy === undefined) {
        await writeAll(files, wanted);
        return refused.all();
      }
      await leadRunning(files, wanted, envoy);
      const read = named();
      for (const path of folder.leaves()) {
        if (!files.leaves.has(path) && !read.has(path)) await folder.remove(path);
        else if (read.has(path) && !folder.isKept(path)) await folder.keep(path);
      }
      return refused.all();
    },
  };
}

const isRoute = ({ type }: Leaf): boolean => type === "routes";

const fileOfLeaf = ({ path, file }: Leaf): readonly [string, FileContent] => [path, file];
