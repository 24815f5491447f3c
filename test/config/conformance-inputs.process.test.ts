import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readFiles } from "../../lib/config/folder/directory.ts";
import { casesOf, suitesOf } from "../conformance/suites.ts";
import { readV1Case } from "../conformance/v1-cases.ts";

const read = (folder: string, files: readonly string[]) =>
  readFiles(
    files.map((file) => ({ file, text: readFileSync(join(folder, file), "utf8") })),
    { names: "free" },
  );
const problems = (loaded: ReturnType<typeof readFiles>) =>
  loaded.diagnostics
    .filter(({ severity }) => severity === "error")
    .map(({ origin, path, message }) => `${origin.file}:${origin.line} ${path.join(".")} ${message}`);

/** What release 0.8 took of `v1alpha3`, and today's releases refuse in any version. */
const blockByDns = [
  "inputs-final-v1alpha3/serviceentry-google.yaml:18 spec.addresses.0 a block cannot be resolved by DNS",
];
const refusedToday: Readonly<Record<string, readonly string[]>> = {
  "compat-0.7/cds-v0-tcp-dns": blockByDns,
  "compat-0.7/lds-v0-tcp-dns": blockByDns,
  "compat-0.7/rds-v0-tcp-dns": blockByDns,
};

describe("the conformance cases", () => {
  it.each(suitesOf("v3", "v3-samples", "gateway-api"))("have only configuration that is accepted in %s", (suite) => {
    for (const { name, path } of casesOf(suite)) {
      const files = ["input.yaml", "mesh.yaml", "networks.yaml"].filter((file) => existsSync(join(path, file)));
      expect(problems(read(path, files)), name).toEqual([]);
    }
  });

  it("have configuration in v1 that is accepted, and refused where the case says so", () => {
    for (const { name, path } of casesOf("v1")) {
      const { configs = [], configsFinalV1alpha3 = [], reject } = readV1Case(path);
      const found = problems(read(path, configs));
      if (reject === true) expect(found, name).not.toEqual([]);
      else expect(found, name).toEqual([]);
      expect(problems(read(path, configsFinalV1alpha3)), name).toEqual(refusedToday[name] ?? []);
    }
  });
});
