import { setTimeout as sleep } from "node:timers/promises";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
import type { SourceFile } from "../../lib/config/folder/directory.ts";
import { readFolder } from "../../lib/config/folder/folder.ts";
import { type Bookshop, openBookshop, rejections, startGateway } from "./bookshop.ts";
import type { Edge, PublicEdge } from "./edges.ts";
import { type EditsUnderTraffic, editUnderTraffic } from "./edits-under-traffic.ts";
import { eventually, type RunningEnvoy } from "./envoy.ts";

/** The bookshop, published by an edge, with an Envoy as its gateway that polls this edge. */
export interface EdgeShop {
  readonly shop: Bookshop;
  readonly edge: PublicEdge;
  readonly envoy: RunningEnvoy;
  readonly pollDelayMs: number;
  close(): Promise<void>;
}

interface EdgeShopOptions {
  /** `refresh_delay` of the Envoy. The edge has to be opened with the same. */
  readonly pollDelayMs: number;
  /** Files of the source `mesh`, which is filled in the store first, as a large source is; none when absent. */
  readonly mesh?: readonly SourceFile[] | undefined;
}

/** The gateway's long polls: for clusters, for listeners, and for the one route table. */
const loops = 3;

/** How often a front reads HEAD while it holds polls. */
export const headLookMs = 1_000;

const patienceMs = 60_000;

/** @throws with the answer, for a push that is not published */
async function push(edge: Edge, { folder }: Bookshop): Promise<void> {
  const response = await edge.post("/sources/main", JSON.stringify({ files: await readFolder(folder) }));
  const text = await response.text();
  if (response.status !== 200) throw new Error(`the push was answered with ${response.status}: ${text.slice(0, 500)}`);
}

export async function openEdgeShop(open: () => Promise<PublicEdge>, options: EdgeShopOptions): Promise<EdgeShop> {
  const { pollDelayMs, mesh } = options;
  const shop = await openBookshop();
  const edge = await open();
  const close = async () => {
    await edge.close();
    await shop.close();
  };
  try {
    if (mesh !== undefined) await writeShard(edge.store, "mesh", mesh);
    await push(edge, shop);
    const envoy = await startGateway(edge.platform, { pollDelayMs });
    return {
      shop,
      edge,
      envoy,
      pollDelayMs,
      async close() {
        await envoy.stop();
        await close();
      },
    };
  } catch (cause) {
    await close();
    throw cause;
  }
}

/** The catalog's route, with a response header that has the number of the edit. */
const withEdit = (i: number) => (text: string) => {
  const header = `      headers:\n        response:\n          set:\n            x-edit: "${i}"\n`;
  const edited = text.replace(/(- name: catalog\n)(?: {6}headers:\n(?: {8,}.*\n)+)?(?= {6}match:)/, `$1${header}`);
  if (edited === text) throw new Error("the bookshop has no route named catalog");
  return edited;
};

/** What came of edits over an edge, and what must be nothing besides failed requests. */
export interface EdgeEdits extends EditsUnderTraffic {
  /** Configuration that Envoy refused, and polls whose Host the platform does not know. */
  readonly refused: readonly string[];
}

/**
 * Changes a response header of the catalog's route again and again, each time by a signed push of the shop's files, and waits until the
 * gateway's answers have it.
 *
 * Where the edge holds polls, an edit waits until all of the gateway's polls are held. Edits come at different times between two looks of
 * the front at HEAD, or between two polls.
 */
export async function editOverEdge({ shop, edge, envoy, pollDelayMs }: EdgeShop, count: number): Promise<EdgeEdits> {
  const rest = async (i: number) => {
    if (edge.holds === true)
      await eventually(
        async () => edge.platform.counts().waiting,
        (waiting) => waiting === loops,
        patienceMs,
      );
    const everyMs = edge.holds === true ? headLookMs : 1.5 * pollDelayMs;
    await sleep((everyMs * ((i * 7) % 20)) / 20);
  };
  await rest(0);
  const edited = await editUnderTraffic(shop.port, count, {
    async make(i) {
      await shop.edit("catalog.yaml", withEdit(i));
      await push(edge, shop);
    },
    path: () => "/catalog",
    read: ({ status, edit }, i) => (status !== 200 ? "failed" : edit === String(i) ? "in force" : "not yet"),
    rest,
  });
  const { foreign } = edge.platform.counts();
  const refused = [...(await rejections(envoy)), ...(foreign > 0 ? [`${foreign} polls with a foreign Host`] : [])];
  return { ...edited, refused };
}
