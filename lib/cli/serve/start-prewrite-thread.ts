import { parentPort, workerData } from "node:worker_threads";
import { type Blob, blobKey } from "../../base/blob.ts";
import { stillThere } from "../../snapshot/prewrite.ts";
import { inParallel } from "../../storage/in-parallel.ts";
import { openStore } from "../../storage/open-store.ts";

/** What the thread is told when it starts. */
export interface PrewriteThreadData {
  /** The store, as `openStore` takes it. */
  readonly where: string;
  readonly s3Endpoint: string | undefined;
}

/** What the thread is told then: blobs to be written, and that there are no more. */
export type PrewriteMessage = readonly Blob[] | "end";

/** What it says at its end: hashes of blobs that it has put where none were, and that the store still lists. */
export interface PrewriteAnswer {
  readonly blobs: readonly string[];
  readonly bytes: number;
}

/** A thread that writes blobs into a store, and ends when it is told that there are no more. */
export async function runPrewriteThread(): Promise<void> {
  const port = parentPort;
  if (port === null) throw new Error("this is no thread");
  const { where, s3Endpoint }: PrewriteThreadData = workerData;
  const store = await openStore(where, { s3Endpoint });
  const sizes = new Map<string, number>();
  const put = async (blob: Blob): Promise<void> => {
    if ((await store.put(blobKey(blob.hash), blob.bytes, { ifNoneMatch: "*" })).kind === "lost") return;
    sizes.set(blob.hash, blob.bytes.length);
  };
  const answer = async (): Promise<void> => {
    const blobs = [...(await stillThere(store, new Set(sizes.keys())))];
    const bytes = blobs.reduce((sum, hash) => sum + (sizes.get(hash) ?? 0), 0);
    port.postMessage({ blobs, bytes } satisfies PrewriteAnswer);
    port.close();
  };
  let last: Promise<unknown> = Promise.resolve();
  port.on("message", (message: PrewriteMessage) => {
    // Whoever publishes writes what fails here, and says why.
    if (message !== "end") last = last.then(() => inParallel(message, (blob) => put(blob).catch(() => {})));
    else last.then(answer);
  });
}
