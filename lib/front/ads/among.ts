import type { Written } from "../../streams/grpc-framing.ts";

/** Messages that a stream gets beside those of its resources. */
export interface Aside {
  /** The next one; undefined where there is none now. */
  due(): Promise<Written | undefined>;
  /** Resolves when there may be another. `end` is called when nothing waits for that any more. */
  look(): { readonly due: Promise<"look">; end(): void };
}

/** The messages of a stream, and those that come beside them as soon as there are any. */
export async function* among(messages: AsyncGenerator<Written>, aside: Aside): AsyncGenerator<Written> {
  let next: Promise<IteratorResult<Written, unknown>> | undefined;
  try {
    for (;;) {
      // Before the question: what comes up while that is answered is not missed.
      const looking = aside.look();
      try {
        const other = await aside.due();
        if (other !== undefined) {
          yield other;
          continue;
        }
        next ??= messages.next();
        // It may fail while another is on its way; the race below is told of that.
        next.catch(() => {});
        const first = await Promise.race([next, looking.due]);
        if (first === "look") continue;
        if (first.done === true) return;
        next = undefined;
        yield first.value;
      } finally {
        looking.end();
      }
    }
  } finally {
    await messages.return(undefined);
  }
}
