import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { patchMessages } from "../../lib/descriptors/patch-messages.ts";
import { canonicalValue, isFatal } from "../../lib/descriptors/values/canonical-value.ts";

interface Recorded {
  readonly applyTo: keyof typeof patchMessages;
  readonly value: object;
  readonly json?: object;
  readonly error?: string;
  /** Of Istio's strict reading. */
  readonly warning?: string;
}

/** What Istio made of values of patches, one a line. @see test/captured/README.md */
const recorded: readonly Recorded[] = readFileSync(
  new URL("../captured/envoy-filter-values/values.jsonl", import.meta.url),
  "utf8",
)
  .trim()
  .split("\n")
  .map((line): Recorded => JSON.parse(line));

const read = ({ applyTo, value }: Recorded) => canonicalValue(patchMessages[applyTo], value);

/** An address without a host, which an Envoy that polls cannot read: the usual one is put before it. */
const isWithoutHost = (text: string): boolean => /"@type":"envoy\./.test(text);

describe("the value of a patch", () => {
  it("is what Istio reads it as, wherever Istio takes it and Envoy can", () => {
    const taken = recorded.filter(({ json }) => json !== undefined);
    expect(taken.length).toBeGreaterThan(100);
    for (const one of taken) {
      const { json, problems } = read(one);
      const isEmptyAny = problems.some(({ reason }) => reason.startsWith("is empty"));
      // Istio passes on whatever stands in a TypedStruct. Envoy reads it as the type that it names.
      const isRefusedStruct = JSON.stringify(one.value).includes(".TypedStruct") && problems.some(isFatal);
      if (isEmptyAny || isRefusedStruct || isWithoutHost(JSON.stringify(one.value))) continue;
      expect(json, JSON.stringify(one.value)).toEqual(one.json);
    }
  });

  it("is refused where Istio refuses it, with the place; a type that is not known depends on the settings", () => {
    const refused = recorded.filter(({ error }) => error !== undefined);
    expect(refused.length).toBeGreaterThan(50);
    for (const one of refused) {
      const { problems } = read(one);
      const fatal = problems.find((problem) => isFatal(problem) || problem.kind === "unknown-type");
      expect(fatal, `${JSON.stringify(one.value)} ${one.error}`).toBeDefined();
    }
  });

  it("has fields that are passed over, and said, exactly where Istio's strict reading warns", () => {
    for (const one of recorded) {
      const { json, problems } = read(one);
      if (json === undefined || one.json === undefined) continue;
      const isSaid = problems.some(({ kind }) => kind === "unknown-field");
      expect(isSaid, JSON.stringify(one.value)).toBe(one.warning !== undefined);
    }
  });
});

describe("a value that somebody made to harm", () => {
  const checked = (value: object) => canonicalValue(patchMessages.CLUSTER, value).problems;
  // As long as names of fields are.
  const many = Array.from({ length: 300_000 }, (_, i) => `connect_timeou${i}`);

  it("has names of unknown fields compared with known ones for as many as are reported", () => {
    const problems = checked(Object.fromEntries(many.map((name) => [name, 1])));
    expect(problems).toHaveLength(20);
    expect(problems[0]).toMatchObject({ kind: "unknown-field", hint: "write connect_timeout" });
  });

  it("has names of enums compared for as many, too, and its first invalid one is reported all the same", () => {
    const fields = Object.fromEntries(many.slice(0, 20).map((name) => [name, 1]));
    const problems = checked({ transport_socket_matches: [fields], lb_policy: "RANDON" });
    expect(problems.find(({ kind }) => kind === "invalid")).toMatchObject({ path: ["lb_policy"] });
  });
});
