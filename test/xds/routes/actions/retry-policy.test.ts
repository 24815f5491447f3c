import { describe, expect, it } from "vitest";
import { inboundRetryPolicy, retryPolicy } from "../../../../lib/xds/routes/actions/retry-policy.ts";

describe("retryPolicy", () => {
  it("is Istio's own where nobody says anything", () => {
    expect(retryPolicy(undefined, false)).toMatchObject({
      retryOn: "connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes",
      numRetries: 2,
      hostSelectionRetryMaxAttempts: "5",
      retryHostPredicate: [{ name: "envoy.retry_host_predicates.previous_hosts" }],
    });
    expect(retryPolicy(undefined, false)).not.toHaveProperty("retriableStatusCodes");
  });

  it.each([{ attempts: 0 }, {}])("is absent for %j", (retries) => {
    expect(retryPolicy(retries, false)).toBeUndefined();
  });

  it.each([
    { retryOn: "503,gateway-error", words: "gateway-error,retriable-status-codes", codes: [503] },
    { retryOn: " 5xx , reset ", words: "5xx,reset", codes: undefined },
    { retryOn: "retriable-status-codes,429", words: "retriable-status-codes", codes: [429] },
    { retryOn: "999,reset", words: "999,reset", codes: undefined },
    { retryOn: "418,306", words: "306,retriable-status-codes", codes: [418] },
    { retryOn: "503", words: ",retriable-status-codes", codes: [503] },
  ])("reads the conditions '$retryOn'", ({ retryOn, words, codes }) => {
    const policy = retryPolicy({ attempts: 1, retryOn }, false);
    expect(policy?.retryOn).toBe(words);
    expect(policy?.retriableStatusCodes).toEqual(codes);
  });

  it.each([
    { hashed: false, ignore: undefined, avoids: true },
    { hashed: true, ignore: undefined, avoids: false },
    { hashed: true, ignore: true, avoids: true },
    { hashed: false, ignore: false, avoids: false },
  ])(
    "avoids previous hosts: $avoids for hashed $hashed and retryIgnorePreviousHosts $ignore",
    ({ hashed, ignore, avoids }) => {
      const said = ignore === undefined ? {} : { retryIgnorePreviousHosts: ignore };
      expect("retryHostPredicate" in (retryPolicy({ attempts: 1, ...said }, hashed) ?? {})).toBe(avoids);
    },
  );

  it("writes time, back-off and remote localities", () => {
    expect(
      retryPolicy({ attempts: 3, perTryTimeout: "2s", backoff: "0.100s", retryRemoteLocalities: true }, false),
    ).toMatchObject({
      numRetries: 3,
      perTryTimeout: "2s",
      retryBackOff: { baseInterval: "0.100s" },
      retryPriority: { name: "envoy.retry_priorities.previous_priorities", typedConfig: { updateFrequency: 2 } },
    });
  });
});

describe("the retry policy of inbound routes", () => {
  it("is Istio's own where nobody says anything, and none without attempts", () => {
    expect(inboundRetryPolicy(undefined)).toEqual({ retryOn: "reset-before-request", numRetries: 2 });
    expect(inboundRetryPolicy({})).toBeUndefined();
    expect(inboundRetryPolicy({ attempts: 0, retryOn: "5xx" })).toBeUndefined();
  });

  it("takes attempts, conditions and back-off, and nothing that is about other hosts", () => {
    const more = { perTryTimeout: "1s", retryRemoteLocalities: true, retryIgnorePreviousHosts: true };
    expect(inboundRetryPolicy({ attempts: 3, ...more })).toEqual({ retryOn: "reset-before-request", numRetries: 3 });
    expect(inboundRetryPolicy({ attempts: 1, retryOn: "connect-failure,503", backoff: "0.5s" })).toEqual({
      retryOn: "connect-failure,retriable-status-codes",
      retriableStatusCodes: [503],
      numRetries: 1,
      retryBackOff: { baseInterval: "0.5s" },
    });
  });
});
