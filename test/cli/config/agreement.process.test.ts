import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { type Diagnostic, keyText } from "../../../lib/base/diagnostic.ts";
import { analysisOf, wholeAnalysis } from "../../../lib/cli/config/analysis-report.ts";
import { createFileCompiler } from "../../../lib/compile/compile-files.ts";
import { defaultWorldOptions } from "../../../lib/compile/world/world-of.ts";
import { readFiles, type SourceFile } from "../../../lib/config/folder/directory.ts";
import { readFolder } from "../../../lib/config/folder/folder.ts";
import { withoutSecrets } from "../../../lib/config/secrets/without-secrets.ts";
import { casesOf, suitesOf } from "../../conformance/suites.ts";
import { examplesOf, worldOfExamples } from "../../docs/diagnostic-pages.ts";
import { sharedFolder } from "../../shared.ts";

const samples = resolve(import.meta.dirname, "../../../samples");

/** What is said, whatever the code: reading has its own, and `analyze` has istioctl's. */
const saidIn = (messages: readonly Diagnostic[]): ReadonlySet<string> =>
  // Files alone hold no keys of other hosts: of those analyze has one note.
  new Set(
    messages
      .filter(({ code }) => code !== "jwks-not-fetched")
      .map(({ origin, path, message }) => `${keyText(origin.key)} ${path.join(".")} ${message}`),
  );

/** What `push` and `dev` print of files, and what `analyze` prints. */
function both(files: readonly SourceFile[]) {
  const clean = withoutSecrets(files);
  const { diagnostics, loaded } = createFileCompiler(defaultWorldOptions)(clean, []);
  const published = saidIn([...diagnostics, ...analysisOf(loaded)]);
  const analyzed = saidIn(wholeAnalysis(readFiles(clean, { inlineSymmetricKeys: "allow" })));
  return { published: [...published].sort(), analyzed: [...analyzed].sort() };
}

const inputOf = (path: string): readonly SourceFile[] =>
  ["input.yaml", "mesh.yaml", "networks.yaml"]
    .filter((file) => existsSync(join(path, file)))
    .map((file) => ({ file, text: readFileSync(join(path, file), "utf8") }));

/** Inputs of people beside the repository; none where they are not there. */
const trialsFolder = fileURLToPath(new URL("trials/config/", sharedFolder));
const trials = existsSync(trialsFolder) ? readdirSync(trialsFolder) : [];

describe("a publish and analyze say the same", () => {
  it.each(
    readdirSync(samples, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name),
  )("of the sample %s", async (name) => {
    const { published, analyzed } = both(await readFolder(join(samples, name)));
    expect(analyzed).toEqual(published);
  });

  it.each(suitesOf("v3", "gateway-api"))("of every twentieth case of %s", (suite) => {
    for (const { name, path } of casesOf(suite).filter((_, index) => index % 20 === 0)) {
      const { published, analyzed } = both(inputOf(path));
      expect({ name, said: analyzed }).toEqual({ name, said: published });
    }
  });

  it.each(trials)("of the trial input %s", (name) => {
    const { published, analyzed } = both(inputOf(join(trialsFolder, name)));
    expect(analyzed).toEqual(published);
  });

  it("besides keys of issuers, which are one note where there are files alone", () => {
    const policy = (name: string, rule: string) => `apiVersion: security.istio.io/v1
kind: RequestAuthentication
metadata: { name: ${name}, namespace: istio-system }
spec: { jwtRules: [${rule}] }
`;
    const texts = [
      policy("a", '{ issuer: a, jwksUri: "https://a.example/keys" }'),
      policy("b", '{ issuer: "https://b.example" }'),
      policy("c", "{ issuer: nowhere }"),
    ];
    const loaded = readFiles([worldOfExamples(), { file: "tokens.yaml", text: texts.join("---\n") }]);
    const found = wholeAnalysis(loaded).filter(({ code }) => code === "jwks-not-fetched");
    expect(found.map(({ severity, origin, message }) => `${severity} ${origin.key.name} ${message}`)).toEqual([
      expect.stringMatching(/^warning c the rule names no keys/),
      "info a the keys of this issuer are not part of what is analyzed, nor those of 1 other issuer",
    ]);
    expect(found[1]?.hint).toContain("`portolan resolve`");
  });

  it("of the examples of every message that one folder provokes", () => {
    const examples = ["reading", "registries", "mesh", "analysis"].flatMap((page) => examplesOf(page));
    let compared = 0;
    for (const { code, steps } of examples) {
      const [files] = steps;
      if (
        files === undefined ||
        steps.length > 1 ||
        files.some(({ file }) => /^(?:mesh|networks|portolan)\.yaml$/.test(file))
      )
        continue;
      const { published, analyzed } = both([worldOfExamples(), ...files]);
      expect({ code, said: analyzed }).toEqual({ code, said: published });
      compared += 1;
    }
    expect(compared).toBeGreaterThan(80);
  }, 300_000);
});
