import { describe, expect, it } from "vitest";
import { createBudget } from "../../../lib/limits/budget.ts";
import { createDifferences } from "../../../lib/streams/differences.ts";
import { discoveryStream, type StreamHost, type StreamRequest } from "../../../lib/streams/stream.ts";
import type { TreeReader } from "../../../lib/streams/tree-reader.ts";

const noReader: TreeReader = { entries: async () => new Map(), binaries: async () => undefined };

/** A request of a type that is not served: its node is known from then on. */
const first: StreamRequest = {
  claims: () => ({ id: "sidecar~10.0.0.1~web.shop~shop.svc.cluster.local", cluster: "", metadata: {}, locality: "" }),
  type: undefined,
  asked: () => {
    throw new Error("it has no type");
  },
};

/** A stream of one request whose host calls `meanwhile` while it works out what is in force. It must not wait for anything after that. */
async function streamed(meanwhile: (stream: { end(cause?: Error): void; abort(): void }) => void): Promise<string> {
  const ending = Promise.withResolvers<Error | undefined>();
  const gone = new AbortController();
  async function* requests() {
    yield first;
    const cause = await ending.promise;
    if (cause !== undefined) throw cause;
  }
  const host: StreamHost = {
    limits: { streamMs: 600_000, streamBytes: 1_000_000, refusalMs: 900_000, requestMs: 30_000 },
    secretsMs: 900_000,
    sources: { reader: noReader, differences: createDifferences(noReader), known: new WeakMap() },
    budget: createBudget(1_000_000),
    isClosed: () => false,
    async now() {
      meanwhile({ end: (cause) => ending.resolve(cause), abort: () => gone.abort() });
      await new Promise((resolve) => setImmediate(resolve));
      return { state: "1", force: undefined };
    },
    waitForChange: (_state, timeoutMs) => Promise.reject(new Error(`waits ${timeoutMs} ms for a change`)),
    has() {},
    accepted() {},
    settled() {},
    refused() {},
    mended() {},
    counted() {},
    sending() {},
  };
  const answers = discoveryStream<never>(host, requests(), {
    kind: "delta",
    signal: gone.signal,
    write: () => Promise.reject(new Error("nothing is in force")),
    writeSecrets: () => {
      throw new Error("no secrets are asked for");
    },
  });
  return answers.next().then(({ done }) => (done === true ? "ends" : "answers"), String);
}

describe("a stream whose server works out what is in force", () => {
  it("ends when its requests end meanwhile", async () => {
    expect(await streamed(({ end }) => end())).toBe("ends");
  });

  it("ends with the error of a request that fails meanwhile", async () => {
    expect(await streamed(({ end }) => end(new Error("not a request")))).toBe("Error: not a request");
  });

  it("ends when its call is given up meanwhile", async () => {
    expect(await streamed(({ abort }) => abort())).toBe("ends");
  });
});
