import type { AgentFolder, Staged } from "../files/agent-folder.ts";
import type { FileContent, Leaf } from "../files/envoy-files.ts";
import type { RefusedResources } from "./refused-resources.ts";
import { type Heard, type Moment, type Moments, type ReadingEnvoy, startOf, untilTaken } from "./until-taken.ts";

/** Files of one resource each, and what Envoy makes of them. */
export interface Leaves {
  /** Puts files into their places. Without an Envoy they are there for the next. */
  put(leaves: readonly Leaf[], staged: Staged, envoy: ReadingEnvoy | undefined): Promise<void>;
  /** What lies in its place already counts as put. */
  found(leaves: readonly Leaf[], envoy: ReadingEnvoy): Promise<void>;
  /**
   * Finds out what Envoy has made of those that something reads: what is taken is kept, in the place of what is refused comes what was
   * taken before.
   *
   * @param read paths that something in force names
   * @returns whether nothing is left of which nothing was heard
   */
  hear(read: ReadonlySet<string>, envoy: ReadingEnvoy): Promise<boolean>;
}

/** How long to wait until files are in force. */
const timeoutMs = 3_000;

/** Put into its place, and not heard of yet. */
interface Open {
  readonly leaf: Leaf;
  readonly since: Moment | undefined;
  /** What lay there before, where nothing was heard of that either. */
  readonly before?: FileContent | undefined;
}

export function createLeaves(folder: AgentFolder, refused: RefusedResources, moments: Moments): Leaves {
  const open = new Map<string, Open>();

  async function blame({ path, type, name, file }: Leaf, words: string): Promise<void> {
    refused.add({ type, name, text: file.text, words });
    const before = (await folder.good(path)) ?? open.get(path)?.before;
    open.delete(path);
    if (before !== undefined) await (await folder.stage(new Map([[path, before]]))).put(path);
  }

  return {
    async put(leaves, staged, envoy) {
      if (leaves.length === 0) return;
      const since = envoy && (await moments.now(envoy));
      for (const leaf of leaves) {
        const before = folder.isKept(leaf.path) ? undefined : await folder.current(leaf.path);
        open.delete(leaf.path);
        open.set(leaf.path, { leaf, since, before });
        await staged.put(leaf.path);
      }
    },
    async found(leaves, envoy) {
      const unknown = leaves.filter(({ path }) => !open.has(path));
      if (unknown.length === 0) return;
      const since = envoy.isAdopted ? await moments.now(envoy) : startOf(envoy);
      for (const leaf of unknown) {
        open.set(leaf.path, { leaf, since });
        // What an agent before this one has heard of it died with that one.
        if (envoy.isAdopted) await folder.putAgain(leaf.path);
      }
    },
    async hear(read, envoy) {
      for (const [path, { leaf }] of open) if (folder.versionOf(path) !== leaf.file.version) open.delete(path);
      const asked = [...open.values()].filter(({ leaf }) => read.has(leaf.path));
      const [first] = asked;
      if (first === undefined) return true;
      const leaves = asked.map(({ leaf }) => leaf);
      const since = first.since?.pid === envoy.pid ? first.since : startOf(envoy);
      const heard = await untilTaken(
        envoy,
        leaves.map(({ file }) => file.version),
        since,
        { timeoutMs, isAbout: (subscription) => leaves.some((leaf) => isOf(subscription, leaf)) },
      );
      const missing = leaves.filter(({ file }) => heard.missing.has(file.version));
      for (const leaf of leaves) {
        if (missing.includes(leaf)) continue;
        open.delete(leaf.path);
        await folder.keep(leaf.path);
      }
      const blamed = refusedOf(missing, heard);
      for (const [i, leaf] of blamed.entries()) {
        await blame(leaf, wordsFor(leaf, i, blamed.length, heard.words));
      }
      return missing.length === blamed.length;
    },
  };
}

/** Those that Envoy has refused. Where it names statistics otherwise, by its words alone. */
function refusedOf(missing: readonly Leaf[], { refusing, words }: Heard): readonly Leaf[] {
  const counted = missing.filter((leaf) => refusing.some((subscription) => isOf(subscription, leaf)));
  if (refusing.length > 0) return counted;
  return words.length >= missing.length
    ? missing
    : missing.filter(({ name }) => words.some((one) => one.includes(name)));
}

/** Envoy says one thing for each, in the order in which they were put into place. */
function wordsFor({ name }: Leaf, at: number, count: number, words: readonly string[]): string {
  const own = words.length === count ? words[at] : words.findLast((one) => one.includes(name));
  return own ?? (words.join("\n") || "Envoy counts it as refused, and does not say why");
}

/** Whether statistics are those of a leaf's subscription: a colon is no part of their names, and a cluster's may end with `;`. */
function isOf(subscription: string, { type, name }: Leaf): boolean {
  const said = name.replaceAll(":", "_");
  if (type === "routes") return subscription.startsWith("http.") && subscription.endsWith(`.rds.${said}`);
  return subscription === `cluster.${said}` || subscription === `cluster.${said};`;
}
