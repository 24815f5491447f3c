import { fromBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { DiscoveryResponseSchema } from "../../../gen/envoy/service/discovery/v3/discovery_pb.ts";
import { ProxyConfigSchema } from "../../../gen/istio/mesh/v1alpha1/proxy_config_pb.ts";
import { trustBundles, trustBundleUrl } from "../../../lib/front/ads/trust-bundles.ts";
import type { Written } from "../../../lib/streams/grpc-framing.ts";

/** A stream whose messages are given by hand. */
function handStream() {
  const waiting = [Promise.withResolvers<IteratorResult<Written, undefined>>()];
  let isReturned = false;
  const last = () => waiting.at(-1);
  async function* messages(): AsyncGenerator<Written> {
    try {
      for (let at = 0; ; at += 1) {
        const one = await waiting[at]?.promise;
        if (one === undefined || one.done === true) return;
        yield one.value;
      }
    } finally {
      isReturned = true;
    }
  }
  return {
    messages: messages(),
    give(text: string) {
      const one = last();
      waiting.push(Promise.withResolvers());
      one?.resolve({ done: false, value: [new TextEncoder().encode(text)] });
    },
    fail: (cause: Error) => last()?.reject(cause),
    end: () => last()?.resolve({ done: true, value: undefined }),
    isReturned: () => isReturned,
  };
}

/** The roots in a message; the text of one of the stream's own. */
function shown(written: Written): string {
  const bytes = Buffer.concat(written);
  try {
    const { typeUrl, resources } = fromBinary(DiscoveryResponseSchema, bytes);
    if (typeUrl === trustBundleUrl)
      return resources.flatMap(({ value }) => fromBinary(ProxyConfigSchema, value).caCertificatesPem).join(" ");
  } catch {
    // A text.
  }
  return String(bytes);
}

function testBundles() {
  let roots: readonly string[] = ["a"];
  let failure: Error | undefined;
  const errors: unknown[] = [];
  const stream = handStream();
  const bundles = trustBundles({
    kind: "whole",
    everyMs: 1,
    async roots() {
      if (failure !== undefined) throw failure;
      return roots;
    },
    onError: (cause) => errors.push(cause),
  });
  const among = bundles.among(stream.messages);
  return {
    stream,
    bundles,
    among,
    errors,
    next: async () => {
      const { done, value } = await among.next();
      return done === true ? "end" : shown(value);
    },
    trust(next: readonly string[], cause?: Error) {
      roots = next;
      failure = cause;
    },
  };
}

describe("trustBundles", () => {
  it("leaves a stream as it is whose reader has not asked", async () => {
    const { stream, bundles, next } = testBundles();
    bundles.asked("type.googleapis.com/envoy.config.cluster.v3.Cluster");
    stream.give("one");
    expect(await next()).toBe("one");
    stream.end();
    expect(await next()).toBe("end");
  });

  it("gives the roots once they are asked for, and again when they are others, while the stream waits", async () => {
    const { stream, bundles, next, trust } = testBundles();
    const first = next();
    bundles.asked(trustBundleUrl);
    expect(await first).toBe("a");
    bundles.asked(trustBundleUrl);
    const second = next();
    trust(["a", "b"]);
    expect(await second).toBe("a b");
    stream.give("one");
    expect(await next()).toBe("one");
    trust(["b"]);
    expect(await next()).toBe("b");
    stream.end();
    expect(await next()).toBe("end");
  });

  it("keeps the stream where roots cannot be read, and gives them when they can", async () => {
    const { stream, bundles, next, trust, errors } = testBundles();
    trust([], new Error("the CA cannot be read"));
    bundles.asked(trustBundleUrl);
    stream.give("one");
    expect(await next()).toBe("one");
    expect(String(errors[0])).toContain("the CA cannot be read");
    trust(["a"]);
    expect(await next()).toBe("a");
  });

  it("fails as the stream does, and ends it when its reader goes", async () => {
    const failing = testBundles();
    failing.bundles.asked(trustBundleUrl);
    expect(await failing.next()).toBe("a");
    failing.stream.fail(new Error("the node has no place"));
    await expect(failing.next()).rejects.toThrow("the node has no place");
    const { stream, among, next } = testBundles();
    stream.give("one");
    expect(await next()).toBe("one");
    await among.return(undefined);
    expect(stream.isReturned()).toBe(true);
  });
});
