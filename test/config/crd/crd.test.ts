import { existsSync, readFileSync } from "node:fs";
import { Ajv, type ErrorObject } from "ajv";
import fc from "fast-check";
import { loadAll } from "js-yaml";
import { describe, expect, it } from "vitest";
import type { ConfigMeta } from "../../../lib/config/config.ts";
import { schemaOf } from "../../../lib/config/kind-registry.ts";
import { withoutEffectRules } from "../../../lib/config/rules/fields-without-effect.ts";
import { sharedFolder } from "../../shared.ts";
import { lacks } from "../../skip.ts";
import { propertyRuns } from "../../soak-options.ts";
import {
  type Crd,
  type Field,
  type KindFields,
  kindFields,
  readDigest,
  type ScalarField,
  writeDigest,
} from "./field-digest.ts";
import { differences, schemaFields } from "./schema-fields.ts";

const text = readFileSync(new URL("fields.txt", import.meta.url), "utf8");
const kinds = readDigest(text);
const file = new URL("conformance/registries/kubernetes/istio-crds-1.32.yaml", sharedFolder);

const formerly = "release 0.8's: a rule says that it counts in the v1 API only";

/** What we read and Istio 1.32 does not have, beside fields that say so of themselves (`fields-without-effect.ts`). */
const more: Readonly<Record<string, string>> = {
  "Sidecar.outboundTrafficPolicy.mode may not be ALLOW_ANY_DYNAMIC_DNS":
    "the mesh's settings have it; a rule refuses it",
  "VirtualService.http[].websocketUpgrade is no field of Istio's": formerly,
  "VirtualService.http[].appendHeaders is no field of Istio's": formerly,
  "VirtualService.http[].removeResponseHeaders is no field of Istio's": formerly,
  "VirtualService.http[].fault.abort.percent is no field of Istio's": formerly,
};

function schemaFor({ group, kind }: KindFields) {
  const schema = schemaOf(group, kind);
  if (schema === undefined) throw new Error(`${kind} has no schema`);
  return schema;
}

const meta = ({ kind, group, versions }: KindFields): ConfigMeta => ({
  kind,
  group,
  version: versions[0] ?? "",
  name: "a",
  namespace: "ns",
  domain: "cluster.local",
  labels: {},
  annotations: {},
  resourceVersion: "",
  creationTimestampMs: 0,
});

const named = kinds.map((fields) => [fields.kind, fields] as const);

describe("the digest of Istio's CustomResourceDefinitions", () => {
  it("is read back as it was written", () => {
    expect(writeDigest(kinds)).toBe(text);
  });

  // To be written anew by `node test/config/crd/write-digest.ts <file>`.
  it.skipIf(lacks(existsSync(file), "Istio's CustomResourceDefinitions in ../shared"))(
    "says what the CustomResourceDefinitions say",
    () => {
      const crds = loadAll(readFileSync(file, "utf8")).filter((crd): crd is Crd => crd !== null && crd !== undefined);
      expect(writeDigest(crds.map(kindFields))).toBe(text);
    },
  );
});

describe("the schemas, against Istio's", () => {
  it.each(named)("have the fields, types and values of %s, and its versions", (_kind, fields) => {
    const schema = schemaFor(fields);
    expect(new Set(fields.versions)).toEqual(new Set(schema.versions));
    const found = differences(fields.spec, schemaFields(schema.schema), fields.kind);
    expect(found.filter((line) => !(line in more) && !saysNoEffect(fields, line))).toEqual([]);
  });
});

/** Whether a field that is no field of Istio's says that it has no effect where it is written. */
function saysNoEffect(fields: KindFields, line: string): boolean {
  const path = /^\w+\.(\S+) is no field of Istio's$/.exec(line)?.[1];
  if (path === undefined) return false;
  const steps = path.split(/\.|(?=\[\])/);
  // What stands around it is right enough only for this: rules may well have more to say.
  const spec = steps.reduceRight<unknown>((inner, step) => (step === "[]" ? [inner] : { [step]: inner }), {});
  return [...withoutEffectRules(fields.kind, spec)].length > 0;
}

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

/** Members that Istio's rules require, not its schemas: their objects say nothing without them. */
const needed: ReadonlySet<string> = new Set(["port", "patch", "source", "operation"]);

/** Values of a field, its exclusive alternatives aside. */
function valueOf(field: Field, name: string): fc.Arbitrary<unknown> {
  switch (field.kind) {
    case "object": {
      const members = [...field.fields].map(([key, member]) => [key, valueOf(member, key)] as const);
      const required = [...field.fields.keys()].filter((key) => field.required.includes(key) || needed.has(key));
      return fc.record(Object.fromEntries(members), { requiredKeys: required });
    }
    case "list":
      return fc.array(valueOf(field.of, name), { maxLength: 2 });
    case "map": {
      const key = name === "portLevelMtls" ? fc.constantFrom("80", "8080") : fc.constantFrom("a", "b", "x-c");
      return fc.dictionary(key, valueOf(field.of, name), { maxKeys: 2 });
    }
    default:
      return scalarOf(field, name);
  }
}

const zeroDurations = /^(?:ttl|idleTimeout|budgetInterval|weight\w+Period)$/;

function scalarOf({ type, values, bounds }: ScalarField, name: string): fc.Arbitrary<unknown> {
  if (values.length > 0) return fc.constantFrom(...values);
  const [min = "", max = ""] = bounds.split("..");
  switch (type) {
    case "integer":
      return fc.integer({
        min: min === "" ? -3 : Number(min),
        max: Math.min(max === "" ? 70_000 : Number(max), 70_000),
      });
    case "number":
      return fc.double({ min: Number(min), max: max === "" ? 100 : Number(max), noNaN: true });
    case "boolean":
      return fc.boolean();
    case "any":
      return fc.constantFrom({}, { a: 1 });
    case "duration":
      return fc.constantFrom("1s", "0.5s", "100ms", "1m30s");
    default:
      // Durations that may be zero are texts to OpenAPI.
      if (zeroDurations.test(name)) return fc.constantFrom("0s", "1s", "1m30s");
      if (name === "sha256") return fc.constant("0".repeat(64));
      return words;
  }
}

/** The same as a JSON schema. */
function jsonSchemaOf(field: Field): object {
  switch (field.kind) {
    case "object":
      return {
        type: "object",
        properties: Object.fromEntries([...field.fields].map(([name, member]) => [name, jsonSchemaOf(member)])),
        required: [...field.required],
        ...(field.oneOf.length === 0 ? {} : { allOf: field.oneOf.map(atMostOne) }),
      };
    case "list":
      return { type: "array", items: jsonSchemaOf(field.of) };
    case "map":
      return { type: "object", additionalProperties: jsonSchemaOf(field.of) };
    default: {
      const [minimum = "", maximum = ""] = field.bounds.split("..");
      return {
        ...(field.type === "any" ? { type: "object" } : { type: field.type === "duration" ? "string" : field.type }),
        ...(field.values.length === 0 ? {} : { enum: [...field.values] }),
        ...(minimum === "" ? {} : { minimum: Number(minimum) }),
        ...(maximum === "" ? {} : { maximum: Number(maximum) }),
      };
    }
  }
}

function atMostOne(names: readonly string[]): object {
  const each = names.map((name) => ({ required: [name] }));
  return { oneOf: [{ not: { anyOf: each } }, ...each] };
}

/** A value with something in it left out, or replaced by something of another type. */
function broken(value: unknown, choose: (below: number) => number): unknown {
  if (Array.isArray(value) && value.length > 0 && choose(4) > 0) {
    const at = choose(value.length);
    return value.map((element: unknown, index) => (index === at ? broken(element, choose) : element));
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value) && choose(6) > 0) {
    const entries = Object.entries(value);
    if (entries.length > 0) {
      const at = choose(entries.length);
      if (choose(8) === 0) return Object.fromEntries(entries.toSpliced(at, 1));
      return Object.fromEntries(
        entries.map(([key, member], index) => [key, index === at ? broken(member, choose) : member]),
      );
    }
  }
  return [5, true, "text", ["list"], { unknown: 1 }, -1, 2 ** 40][choose(7)];
}

/** Paths of what was written and is not there any more, zeros aside that mean the same as nothing. */
function lost(field: Field, written: unknown, read: unknown, path: string): readonly string[] {
  if (read === undefined) return [path];
  if (field.kind === "list" && Array.isArray(written) && Array.isArray(read)) {
    return written.flatMap((element, index) => lost(field.of, element, read[index], `${path}[]`));
  }
  if (!isFields(written) || !isFields(read)) return [];
  if (field.kind === "map") {
    return Object.keys(written).flatMap((name) => lost(field.of, written[name], read[name], `${path}{}`));
  }
  if (field.kind !== "object") return [];
  return [...field.fields].flatMap(([name, member]) => {
    const value = written[name];
    const hasPresence = member.kind === "object" || field.oneOf.some((names) => names.includes(name));
    if (value === undefined || (isZero(value) && !hasPresence && !(member.kind === "scalar" && member.presence))) {
      return [];
    }
    return lost(member, value, read[name], `${path}.${name}`);
  });
}

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isZero = (value: unknown): boolean =>
  value === "" ||
  value === 0 ||
  value === false ||
  (typeof value === "object" && value !== null && Object.keys(value).length === 0);

/** What our shapes say; the rules that go further have codes and words of their own, and tests of their own. */
const shapeProblem = /must be (?:a text|a list|an object|true or false|a number|a whole number|one of)|unknown field/;

describe("reading, against Istio's schemas", () => {
  const ajv = new Ajv({ strict: false });

  it.each(named)("takes and keeps what has the shape of %s, and refuses what has not", (_kind, fields) => {
    const schema = schemaFor(fields);
    const theirs = ajv.compile(jsonSchemaOf(fields.spec));
    const read = (spec: unknown) => schema.read(spec, meta(fields), "refuse");
    const choices = fc.array(fc.nat(1000), { minLength: 30, maxLength: 30 });

    fc.assert(
      fc.property(valueOf(fields.spec, ""), choices, (spec, choices) => {
        const complaints = read(spec).findings.map(({ path, message }) => `${path.join(".")} ${message}`);
        expect(complaints.filter((line) => shapeProblem.test(line))).toEqual([]);
        expect(lost(fields.spec, spec, schema.schema.parse(spec), fields.kind)).toEqual([]);

        // What is refused there is refused here, whether by the shape or by a rule.
        let next = 0;
        const other = broken(spec, (below) => (choices[next++] ?? 0) % below);
        const refused = !theirs(other) && (theirs.errors ?? []);
        if (refused === false || refused.some(isNumberAsText)) return;
        const again = read(other);
        expect(again.spec, JSON.stringify([other, refused])).toBeUndefined();
        if (refused.every(({ keyword }) => keyword === "type" || keyword === "enum")) {
          const said = again.findings.map(({ path, message }) => `${path.join(".")} ${message}`);
          expect(
            said.filter((line) => shapeProblem.test(line)),
            JSON.stringify([said, refused]),
          ).not.toEqual([]);
        }
      }),
      { numRuns: propertyRuns(300) },
    );
  });
});

/** Our numbers may be written as texts, as proto JSON allows. */
function isNumberAsText({ params }: ErrorObject): boolean {
  return params.type === "integer" || params.type === "number";
}
