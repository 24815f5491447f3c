import { describe, expect, it } from "vitest";
import { celKinds } from "../../lib/admission/manifests/cel-rules.ts";
import { readObject } from "../../lib/admission/read-object.ts";
import { celSamples } from "./cel-samples.ts";

const request = {
  uid: "1",
  operation: "CREATE",
  namespace: "shop",
  name: "x",
  subResource: "",
  isDryRun: false,
  username: "",
} as const;

describe.each(celKinds)("the rules in CEL for $kind", ({ group, kind, rules }) => {
  const read = (spec: object) =>
    readObject(
      {
        apiVersion: `${group}/${group === "extensions.istio.io" ? "v1alpha1" : "v1"}`,
        kind,
        metadata: { name: "x" },
        spec,
      },
      request,
    );
  const samples = celSamples[kind] ?? [];

  it("refuse nothing that `portolan validate` takes", () => {
    expect(samples).toHaveLength(rules.length + 1);
    const kinds = samples.map((spec) => read(spec).kind);
    expect(kinds).toEqual([...rules.map(() => "refused"), "read"]);
  });
});
