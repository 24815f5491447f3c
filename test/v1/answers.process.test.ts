import { readdirSync, readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { bootstrapDocument, defaultBootstrapSettings } from "../../lib/v1/bootstrap.ts";
import { casesOf } from "../conformance/suites.ts";
import { readV1Case, v1Urls } from "../conformance/v1-cases.ts";
import { readV1World } from "../conformance/v1-world.ts";
import { hasShared } from "../shared.ts";
import { answer } from "./oracle/answer.ts";
import { suite as carried } from "./worlds.ts";

const ajv = new Ajv2020({ strict: false });
const schemas = readdirSync(new URL("schema/", carried)).map((file) => {
  const schema: { $id: string } = JSON.parse(readFileSync(new URL(`schema/${file}`, carried), "utf8"));
  ajv.addSchema(schema);
  return { file: file.replace(/\.json$/, ""), id: schema.$id };
});

function validate(name: string, body: unknown): readonly unknown[] {
  const id = schemas.find(({ file }) => file === name)?.id ?? "";
  const check = ajv.getSchema(id);
  return check?.(body) === true ? [] : (check?.errors ?? [`no schema ${name}`]);
}

const families = ["sds", "cds", "rds", "lds"];

const cases = casesOf("v1").flatMap((found) => {
  const spec = readV1Case(found.path);
  const expected = spec.expect?.body;
  if (!families.includes(spec.family) || expected === undefined) return [];
  return [{ name: found.name, spec, expected, ...v1Urls(found) }];
});

describe("the answers of the v1 API", () => {
  it("are there to be compared with", () => {
    expect(cases.length).toBeGreaterThan(hasShared ? 150 : 80);
  });

  it.each(cases)("are what an Envoy of the time accepts: $name", ({ name, spec, suite, folder }) => {
    const world = readV1World(spec, suite, folder).value;
    const body: unknown = JSON.parse(answer(world, spec.request ?? { method: "GET", path: "" }).body);
    const schema = name === "sds/all-sds" ? "registrations-response" : `${spec.family}-response`;
    expect(validate(schema, body)).toEqual([]);
  });

  it.each(cases.filter(({ spec }) => spec.advisory !== true))(
    "are byte for byte what the release wrote: $name",
    ({ suite, folder, spec, expected }) => {
      const world = readV1World(spec, suite, folder).value;
      const { body } = answer(world, spec.request ?? { method: "GET", path: "" });
      expect(body.trimEnd()).toBe(readFileSync(new URL(expected, folder), "utf8").trimEnd());
    },
  );

  it("send weighted egress routes to the one cluster that exists", () => {
    const advisory = cases.find(({ name }) => name === "rds/x-rds-weighted-egress-collapses");
    if (advisory === undefined) throw new Error("the case is not there");
    const { spec, folder } = advisory;
    const body = answer(
      readV1World(spec, advisory.suite, folder).value,
      spec.request ?? { method: "GET", path: "" },
    ).body;
    expect(body).not.toContain("weighted_clusters");
  });
});

describe("the start-up file", () => {
  it("is what an Envoy of the time accepts", () => {
    const settings = { ...defaultBootstrapSettings, zipkinAddress: "zipkin:9411", statsdUdpAddress: "10.0.0.1:9125" };
    expect(validate("bootstrap", bootstrapDocument(settings))).toEqual([]);
  });

  it("is what an Envoy of the time accepts for a front over TLS", () => {
    const tls = { host: "front.example", port: 8443, caFile: "/etc/ca.pem", loopbackPort: 15_007 };
    const files = { certificateFile: "/etc/cert.pem", keyFile: "/etc/key.pem", authorization: "Bearer a.b.c" };
    for (const server of [tls, { ...tls, ...files }]) {
      const document = bootstrapDocument({ ...defaultBootstrapSettings, tls: server });
      expect(validate("bootstrap", document)).toEqual([]);
    }
  });
});
