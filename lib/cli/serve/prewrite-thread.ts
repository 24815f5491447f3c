import { Worker } from "node:worker_threads";
import { causeText } from "../../base/cause-text.ts";
import type { Prewrite, Prewritten } from "../../snapshot/prewrite.ts";
import { shippedProgram } from "../shipped.ts";
import type { PrewriteAnswer, PrewriteMessage, PrewriteThreadData } from "./start-prewrite-thread.ts";

export interface PrewriteOptions {
  /** The store, as `openStore` takes it. */
  readonly where: string;
  readonly s3Endpoint?: string | undefined;
  /** The thread has died; what it was to write is written by whoever publishes. */
  readonly onTrouble: (reason: string) => void;
}

/**
 * Lays blobs by a thread of this process, which lives until it has written them: whoever makes them waits for no disk.
 *
 * @returns starts it
 * @throws PortolanError where the thread's program was not installed
 */
export function prewriteByThread({ where, s3Endpoint, onTrouble }: PrewriteOptions): () => Prewrite {
  const program = shippedProgram("prewrite-blobs", "the program of the thread that writes");
  return () => {
    const workerData: PrewriteThreadData = { where, s3Endpoint };
    const worker = new Worker(program, { workerData, name: "prewrite" });
    // Until its end is waited for it keeps nobody alive.
    worker.unref();
    const ended = Promise.withResolvers<Prewritten>();
    worker.once("message", ({ blobs, bytes }: PrewriteAnswer) => ended.resolve({ blobs: new Set(blobs), bytes }));
    worker.once("error", (cause) => onTrouble(`the thread that writes has ended: ${causeText(cause)}`));
    worker.once("exit", () => ended.resolve({ blobs: new Set(), bytes: 0 }));
    const tell = (message: PrewriteMessage) => worker.postMessage(message);
    return {
      write: tell,
      end() {
        worker.ref();
        tell("end");
        return ended.promise;
      },
    };
  };
}
