import { Worker } from "node:worker_threads";
import { causeText } from "../../base/cause-text.ts";
import type { Laid, Laying } from "../../snapshot/laying.ts";
import { shippedProgram } from "../shipped.ts";
import type { LayAnswer, LayMessage, LayThreadData } from "./lay-thread.ts";

export interface LayingOptions {
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
export function layingByThread({ where, s3Endpoint, onTrouble }: LayingOptions): () => Laying {
  const program = shippedProgram("lay-blobs", "the program of the thread that writes");
  return () => {
    const workerData: LayThreadData = { where, s3Endpoint };
    const worker = new Worker(program, { workerData, name: "laying" });
    // Until its end is waited for it keeps nobody alive.
    worker.unref();
    const ended = Promise.withResolvers<Laid>();
    worker.once("message", ({ blobs, bytes }: LayAnswer) => ended.resolve({ blobs: new Set(blobs), bytes }));
    worker.once("error", (cause) => onTrouble(`the thread that writes has ended: ${causeText(cause)}`));
    worker.once("exit", () => ended.resolve({ blobs: new Set(), bytes: 0 }));
    const tell = (message: LayMessage) => worker.postMessage(message);
    return {
      lay: tell,
      end() {
        worker.ref();
        tell("end");
        return ended.promise;
      },
    };
  };
}
