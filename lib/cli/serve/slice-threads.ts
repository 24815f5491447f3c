import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { causeText } from "../../base/cause-text.ts";
import { type Diagnostic, PortolanError } from "../../base/diagnostic.ts";
import { type SliceJob, sliceText } from "../../compile/slices/plan.ts";
import { shippedProgram } from "../shipped.ts";

/** What a thread says of a job. */
export type SliceAnswer =
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly reason: string; readonly diagnostics: readonly Diagnostic[] };

/** What a thread is told when it starts. */
export interface SliceThreadData {
  readonly where: string;
  readonly s3Endpoint: string | undefined;
  /** Whether a thread keeps what did not change; one with a bound of memory has no room for that. */
  readonly remembers: boolean;
  readonly build: string | undefined;
}

/** Threads of this process that compile slices. Each always gets the same, and remembers their classes unless its memory is bounded. */
export interface SliceThreads {
  /** Resolves when the slice's record is written. */
  dispatch(job: SliceJob): Promise<void>;
  close(): Promise<void>;
}

export interface SliceThreadsOptions {
  /** The store, as `openStore` takes it. */
  readonly where: string;
  readonly s3Endpoint?: string | undefined;
  readonly threads: number;
  /** Heap of a thread, in MiB; absent: what Node gives it. */
  readonly memoryMib?: number | undefined;
  /** Tells the code of this compiler from that of any other. */
  readonly build?: string | undefined;
  /** A thread has ended in the midst of a slice, which another one compiles. */
  readonly onTrouble: (reason: string) => void;
}

/** A slice whose thread dies so often is given up. */
const maxTries = 3;
/** Of a thread's heap, what objects that die young may take. */
const youngShare = 1 / 8;

/** Starts the threads, and starts them again when they die. */
export function createSliceThreads(options: SliceThreadsOptions): SliceThreads {
  const { where, s3Endpoint, threads, memoryMib, build, onTrouble } = options;
  const program = shippedProgram("compile-slice", "the program of a slice's thread");
  const young = memoryMib === undefined ? 0 : Math.ceil(memoryMib * youngShare);
  const resourceLimits =
    memoryMib === undefined ? {} : { maxOldGenerationSizeMb: memoryMib - young, maxYoungGenerationSizeMb: young };
  const workers = new Map<number, Worker>();
  const queues = new Map<number, Promise<unknown>>();
  let isClosed = false;

  const start = (at: number): Worker => {
    const worker = new Worker(program, {
      workerData: { where, s3Endpoint, remembers: memoryMib === undefined, build } satisfies SliceThreadData,
      resourceLimits,
      name: `slice ${at}`,
    });
    workers.set(at, worker);
    // Who is idle keeps nobody alive.
    worker.unref();
    return worker;
  };

  /** @returns undefined when the thread died first */
  async function answerOf(worker: Worker, job: SliceJob): Promise<SliceAnswer | { readonly died: string }> {
    const done = new AbortController();
    const { signal } = done;
    let why = "";
    const onError = (cause: unknown) => {
      why = causeText(cause);
    };
    const exited = Promise.withResolvers<{ readonly died: string }>();
    const onExit = (code: number) => exited.resolve({ died: why || `it ended with ${code}` });
    worker.once("error", onError);
    worker.once("exit", onExit);
    worker.ref();
    try {
      const answered = once(worker, "message", { signal }).then(([answer]): SliceAnswer => answer);
      answered.catch(() => {});
      worker.postMessage(job);
      return await Promise.race([answered, exited.promise]);
    } finally {
      done.abort();
      worker.off("error", onError);
      worker.off("exit", onExit);
      worker.unref();
    }
  }

  async function run(at: number, job: SliceJob): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      if (isClosed) throw new PortolanError("this process is ending");
      const answer = await answerOf(workers.get(at) ?? start(at), job);
      if ("kind" in answer) {
        if (answer.kind === "done") return;
        throw new PortolanError(answer.reason, answer.diagnostics);
      }
      workers.delete(at);
      const reason = `the thread of ${sliceText(job.index, job.plan.of)} has ended: ${answer.died}`;
      if (tries === maxTries || isClosed) throw new PortolanError(reason);
      onTrouble(reason);
    }
  }

  for (let at = 0; at < threads; at += 1) start(at);
  return {
    dispatch(job) {
      const at = job.index % threads;
      const before = queues.get(at) ?? Promise.resolve();
      const done = before.then(() => run(at, job));
      queues.set(
        at,
        done.catch(() => {}),
      );
      return done;
    },
    async close() {
      isClosed = true;
      await Promise.all([...workers.values()].map((worker) => worker.terminate()));
    },
  };
}
