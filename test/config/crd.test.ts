import { readFileSync, writeFileSync } from "node:fs";
import { Ajv, type ErrorObject } from "ajv";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ConfigMeta } from "../../lib/config/config.ts";
import { schemaOf } from "../../lib/config/kind-registry.ts";
import { yamlText } from "../conformance/store/yaml-text.ts";
import { hasShared, sharedFolder } from "../shared.ts";
import { type OpenApi, readIstioSchemas, schemasFile, schemasOfCrds } from "./istio-schemas.ts";

const crds = new URL("conformance/registries/kubernetes/istio-crds.yaml", sharedFolder);

const schemas = readIstioSchemas();

/** Texts that many fields take; each field's own rules refuse some of them, which is for other tests. */
const words = fc.constantFrom(
  "a",
  "a-b",
  "a.example.com",
  "*",
  "*.example.com",
  "10.0.0.1",
  "10.0.0.0/8",
  "ns/a",
  "/x",
);

/** Values that the OpenAPI schema allows, its exclusive alternatives aside. */
function valueOf(schema: OpenApi, name: string): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case "object": {
      if (schema.properties !== undefined) {
        const members = Object.entries(schema.properties)
          // Spelled with underscores, the same fields once more.
          .filter(([key]) => !key.includes("_"))
          .map(([key, member]) => [key, valueOf(member, key)] as const);
        const required = (schema.required ?? []).filter((key) => members.some(([other]) => other === key));
        return fc.record(Object.fromEntries(members), { requiredKeys: required });
      }
      if (schema.additionalProperties !== undefined) {
        const key = name === "portLevelMtls" ? fc.constantFrom("80", "8080") : fc.constantFrom("a", "b", "x-c");
        return fc.dictionary(key, valueOf(schema.additionalProperties, name), { maxKeys: 2 });
      }
      return fc.constantFrom({}, { a: 1 });
    }
    case "array":
      return fc.array(valueOf(schema.items ?? {}, name), { maxLength: 2 });
    case "integer":
      return fc.integer({ min: schema.minimum ?? -3, max: Math.min(schema.maximum ?? 70_000, 70_000) });
    case "number":
      return fc.double({ min: schema.minimum ?? 0, max: schema.maximum ?? 100, noNaN: true });
    case "boolean":
      return fc.boolean();
    default:
      if (isDuration(schema, name)) return fc.constantFrom("1s", "0.5s", "100ms", "1m30s");
      if (schema.pattern?.includes("64")) return fc.constant("0".repeat(64));
      return words;
  }
}

function isDuration(schema: OpenApi, name: string): boolean {
  const rules = schema["x-kubernetes-validations"] ?? [];
  return rules.some(({ rule }) => rule.includes("duration(self)")) || name === "ttl" || name === "idleTimeout";
}

/** A value with something in it replaced by something of another type. */
function broken(value: unknown, choose: (below: number) => number): unknown {
  if (Array.isArray(value) && value.length > 0 && choose(4) > 0) {
    const at = choose(value.length);
    return value.map((element: unknown, index) => (index === at ? broken(element, choose) : element));
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value) && choose(6) > 0) {
    const entries = Object.entries(value);
    if (entries.length > 0) {
      const at = choose(entries.length);
      return Object.fromEntries(
        entries.map(([key, member], index) => [key, index === at ? broken(member, choose) : member]),
      );
    }
  }
  return [5, true, "text", ["list"], { unknown: 1 }, -1, 2 ** 40][choose(7)];
}

const meta = (kind: string, group: string, version: string): ConfigMeta => ({
  kind,
  group,
  version,
  name: "a",
  namespace: "ns",
  domain: "cluster.local",
  labels: {},
  annotations: {},
  resourceVersion: "",
  creationTimestampMs: 0,
});

/** What our shapes say; the rules that go further have codes and words of their own, and tests of their own. */
const shapeProblem = /must be (?:a text|a list|an object|true or false|a number|a whole number|one of)|unknown field/;

describe("the schemas, against Istio's OpenAPI schemas", () => {
  const ajv = new Ajv({ strict: false, validateFormats: false });

  it.runIf(hasShared)("are compared with those of the release", () => {
    const text = yamlText(JSON.parse(JSON.stringify(schemasOfCrds(readFileSync(crds, "utf8")))));
    if (process.env.UPDATE_GOLDEN !== undefined) writeFileSync(schemasFile, text);
    expect(readFileSync(schemasFile, "utf8")).toBe(text);
  });

  it.each(schemas)("agree about the shape of $kind", ({ group, kind, versions, spec: openApi }) => {
    const ours = schemaOf(group, kind);
    expect(ours).toBeDefined();
    expect(new Set(versions)).toEqual(new Set(ours?.versions));
    const theirs = ajv.compile(openApi);
    const [version = ""] = versions;
    const read = (spec: unknown) => ours?.read(spec, meta(kind, group, version), "refuse");

    fc.assert(
      fc.property(valueOf(openApi, ""), fc.array(fc.nat(1000), { minLength: 30, maxLength: 30 }), (spec, choices) => {
        const reading = read(spec);
        const complaints = reading?.findings.map(({ path, message }) => `${path.join(".")} ${message}`) ?? [];
        // What the OpenAPI schema allows has the right shape.
        expect(complaints.filter((text) => shapeProblem.test(text))).toEqual([]);

        // What it refuses is refused, whether by the shape or by a rule.
        let next = 0;
        const other = broken(spec, (below) => (choices[next++] ?? 0) % below);
        const refused = !theirs(other) && (theirs.errors ?? []);
        if (refused === false || refused.some(isNumberAsText)) return;
        const again = read(other);
        expect(again?.spec, JSON.stringify([other, refused])).toBeUndefined();
        if (refused.every(({ keyword }) => keyword === "type" || keyword === "enum")) {
          const said = again?.findings.map(({ path, message }) => `${path.join(".")} ${message}`) ?? [];
          expect(
            said.filter((text) => shapeProblem.test(text)),
            JSON.stringify([said, refused]),
          ).not.toEqual([]);
        }
      }),
      { numRuns: 300 },
    );
  });
});

/** Our numbers may be written as texts, as proto JSON allows. */
function isNumberAsText({ params }: ErrorObject): boolean {
  return params.type === "integer" || params.type === "number";
}
