import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import type { V1Request } from "../../lib/snapshot/legacy/question.ts";
import { bootstrapDocument, defaultBootstrapSettings } from "../../lib/v1/bootstrap.ts";
import { readV1World, type V1Inputs } from "../conformance/v1-world.ts";
import { answer } from "./oracle/answer.ts";

const suite = new URL("../../../shared/conformance/v1/", import.meta.url);

const ajv = new Ajv2020({ strict: false });
const schemas = readdirSync(new URL("schema/", suite)).map((file) => {
  const schema: { $id: string } = JSON.parse(readFileSync(new URL(`schema/${file}`, suite), "utf8"));
  ajv.addSchema(schema);
  return { file: file.replace(/\.json$/, ""), id: schema.$id };
});

function validate(name: string, body: unknown): readonly unknown[] {
  const id = schemas.find(({ file }) => file === name)?.id ?? "";
  const check = ajv.getSchema(id);
  return check?.(body) === true ? [] : (check?.errors ?? [`no schema ${name}`]);
}

interface SingleCase extends V1Inputs {
  readonly request?: V1Request;
  readonly expect?: { readonly status?: number; readonly body?: string };
  readonly advisory?: boolean;
}

const families = ["sds", "cds", "rds", "lds"] as const;

const cases = families.flatMap((family) =>
  readdirSync(new URL(`cases/${family}/`, suite)).flatMap((name) => {
    const folder = new URL(`cases/${family}/${name}/`, suite);
    const spec: SingleCase = JSON.parse(readFileSync(new URL("case.json", folder), "utf8"));
    return spec.expect?.body === undefined ? [] : [{ family, name, folder, spec, expected: spec.expect.body }];
  }),
);

describe("the answers of the v1 API", () => {
  it("are there to be compared with", () => {
    expect(existsSync(fileURLToPath(suite))).toBe(true);
    expect(cases.length).toBeGreaterThan(100);
  });

  it.each(cases)("are what an Envoy of the time accepts: $name", ({ family, name, folder, spec }) => {
    const world = readV1World(spec, suite, folder).value;
    const body: unknown = JSON.parse(answer(world, spec.request ?? { method: "GET", path: "" }).body);
    const schema = name === "all-sds" ? "registrations-response" : `${family}-response`;
    expect(validate(schema, body)).toEqual([]);
  });

  it.each(cases.filter(({ spec }) => spec.advisory !== true))(
    "are byte for byte what the release wrote: $name",
    ({ folder, spec, expected }) => {
      const world = readV1World(spec, suite, folder).value;
      const { body } = answer(world, spec.request ?? { method: "GET", path: "" });
      expect(body.trimEnd()).toBe(readFileSync(new URL(expected, folder), "utf8").trimEnd());
    },
  );

  it("send weighted egress routes to the one cluster that exists", () => {
    const folder = new URL("cases/rds/x-rds-weighted-egress-collapses/", suite);
    const spec: SingleCase = JSON.parse(readFileSync(new URL("case.json", folder), "utf8"));
    const body = answer(readV1World(spec, suite, folder).value, spec.request ?? { method: "GET", path: "" }).body;
    expect(body).not.toContain("weighted_clusters");
  });
});

describe("the start-up file", () => {
  it("is what an Envoy of the time accepts", () => {
    const settings = { ...defaultBootstrapSettings, zipkinAddress: "zipkin:9411", statsdUdpAddress: "10.0.0.1:9125" };
    expect(validate("bootstrap", bootstrapDocument(settings))).toEqual([]);
  });
});
