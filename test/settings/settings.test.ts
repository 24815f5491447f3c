import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { load } from "js-yaml";
import { describe, expect, it } from "vitest";
import { isFields } from "../../lib/base/untyped.ts";
import { readFolderSettings, servingFields } from "../../lib/config/folder/read-folder-settings.ts";
import { environmentOf, overEnvironment, withFiles } from "../../lib/settings/environment.ts";
import { settingsFields, settingsJsonSchema } from "../../lib/settings/fields.ts";
import { readSettings } from "../../lib/settings/read-settings.ts";
import { schemaText } from "../../lib/settings/reference.ts";
import type { Settings } from "../../lib/settings/schema.ts";
import { settingsReference } from "../../site/settings-reference.ts";

const root = resolve(import.meta.dirname, "../..");
const fileOf = (name: string): string => readFileSync(join(root, name), "utf8");

/** What is wrong with a text: line, path, message, hint. */
const wrong = (text: string) =>
  readSettings(text, "portolan.yaml").diagnostics.map(
    ({ origin, path, message, hint }) =>
      `${origin.line} ${path.join(".")}: ${message}${hint === "" ? "" : `; ${hint}`}`,
  );

describe("readSettings", () => {
  it("takes the file that docs/settings.md shows, and so does the schema that is published", () => {
    const [, shown = ""] = /```yaml\n(.*?)```/s.exec(fileOf("docs/settings.md")) ?? [];
    expect(wrong(shown)).toEqual([]);
    const isValid = new Ajv2020({ strict: false }).compile(JSON.parse(fileOf("settings.schema.json")));
    expect(isValid(load(shown))).toBe(true);
    expect(isValid({ frnt: {} })).toBe(false);
    expect(isValid({ front: { port: "80" } })).toBe(false);
  });

  it("takes an empty file, which names nothing but a front", () => {
    expect(readSettings("", "portolan.yaml").value).toEqual({});
    expect(readSettings("# store: s\n", "portolan.yaml").value).toEqual({});
  });

  it("takes no manifest for settings", () => {
    const manifest = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n";
    const told =
      "1 : holds Kubernetes manifests (Service), and no settings; `portolan validate -f FILE` checks manifests";
    expect(wrong(manifest)).toEqual([told]);
    expect(wrong(`${manifest}---\n${manifest}`)).toEqual([told]);
  });

  it("says where a name is wrong, and which was meant", () => {
    expect(wrong("store: s\nfront:\n  prot: 80\n")).toEqual([
      '3 front.prot: unknown field "prot"; did you mean "port"?',
    ]);
    expect(wrong("collectors:\n  - kind: kube\n    contxt: a\n")).toEqual([
      '3 collectors.0.contxt: unknown field "contxt"; did you mean "context"?',
    ]);
  });

  it("says where a value is wrong, and what it may be", () => {
    expect(wrong("front:\n  port: 70000\n")).toEqual(["2 front.port: 70000 must be a whole number from 0 to 65535"]);
    expect(wrong("front: {confirmations: stoer}")).toEqual([
      '1 front.confirmations: "stoer" must be one of own, store',
    ]);
    expect(wrong("- a")).toEqual(["1 : holds no fields; write fields, such as store: .portolan/store"]);
    expect(wrong("a: 1\n---\nb: 2")).toEqual(["1 : expected a single document in the stream, but found more"]);
    expect(wrong("front: [")[0]).toMatch(/^\d /);
  });

  it("says what the name of a source may hold", () => {
    expect(wrong("collectors:\n  - {kind: dir, folder: m, source: a/b}")).toEqual([
      expect.stringContaining('"a/b" must be a name of small letters, digits, - and .'),
    ]);
  });

  it("never says what stands where fields are to stand of which one is a secret", () => {
    const { diagnostics } = readSettings("trust: 8675309\ncompile:\n  webhook: 8675309\n", "portolan.yaml");
    expect(diagnostics.map(({ path }) => path.join("."))).toEqual(["trust", "compile.webhook"]);
    expect(JSON.stringify(diagnostics)).not.toContain("8675309");
  });

  it("never says what stands in a secret", () => {
    const text = "secretsKey: 8675309\ncompile:\n  webhook:\n    secret: 8675309\n    sourceSecrets: {main: 8675309}\n";
    expect(wrong(text).map((line) => line.split(":")[0])).toEqual([
      "1 secretsKey",
      "4 compile.webhook.secret",
      "5 compile.webhook.sourceSecrets.main",
    ]);
    expect(wrong(text).join()).not.toContain("8675309");
  });

  it("says of a folder's own portolan.yaml that it is another file", () => {
    expect(wrong("gatewayApi: {}")[0]).toContain("belongs in the portolan.yaml of the configuration folder");
  });

  it("wants of a collector what its kind has, and a source of its own", () => {
    expect(wrong("collectors:\n  - kind: dir\n")).toEqual([
      "2 collectors.0.folder: is required; name what is followed",
    ]);
    expect(wrong("collectors:\n  - kind: kube\n    folder: x\n")[0]).toMatch(
      /^3 .*a collector of kind kube has no folder/,
    );
    expect(wrong("collectors:\n  - {kind: kube}\n  - {kind: kube, cluster: west}\n")).toEqual([
      "3 collectors.1.source: fills kubernetes, as collectors[0] does; give it a source of its own",
    ]);
  });
});

describe("the environment", () => {
  it("counts more than the file, in the type of its field", () => {
    const settings: Settings = { store: "a", front: { port: 1, maxHoldMs: 5 } };
    const env = { PORT: "9000", PORTOLAN_SOURCES: "main,west", PORTOLAN_BINARY_FORMS: "true", PORTOLAN_STORE: "" };
    expect(overEnvironment(settings, env)).toEqual({
      store: "a",
      front: { port: 9000, maxHoldMs: 5 },
      compile: { sources: ["main", "west"], binaryForms: true },
    });
  });

  it("is refused by name where it says what its field cannot, and no secret is told", () => {
    expect(() => overEnvironment({}, { PORT: "eighty" })).toThrow(
      'PORT is "eighty"; it may be 0 to 65535 (docs/reference/settings.md, front.port)',
    );
    expect(() => overEnvironment({}, { PORTOLAN_SOURCE_SECRETS: "hunter2" })).toThrow(
      /^PORTOLAN_SOURCE_SECRETS may be/,
    );
  });

  it("says all that a file says, and is read as the same", () => {
    const settings: Settings = {
      store: "s3://mesh/prod",
      author: "me",
      secretsKey: "k",
      trust: { trustedKeys: "[]" },
      front: { host: "0.0.0.0", port: 0, workers: 2, confirmations: "store", wanted: true, authentication: "off" },
      compile: { sources: ["a", "b"], pollDelayMs: 100, legacyApi: false, webhook: { sourceSecrets: { a: "x y" } } },
      consul: { address: "http://c:8500" },
      telemetry: { disabled: true },
    };
    expect(overEnvironment({}, environmentOf(settings))).toEqual(settings);
  });

  it("has no variable that two fields share", () => {
    const names = settingsFields().flatMap(({ env }) => env);
    expect(new Set(names).size).toBe(names.length);
  });

  it("may name files, whose text counts then", () => {
    const read = (setting: string) => (setting.startsWith("@") ? `text of ${setting.slice(1)}` : setting);
    const settings = { secretsKey: "@k", store: "@s", compile: { webhook: { secret: "plain" } } };
    expect(withFiles(settings, read)).toEqual({ ...settings, secretsKey: "text of k" });
  });
});

describe("the reference", () => {
  it("is what the schema says: node scripts/settings.mjs writes both files", () => {
    expect(fileOf("settings.schema.json")).toBe(schemaText());
    expect(fileOf("docs/reference/settings.md")).toBe(settingsReference());
    expect(fileOf("docs/reference/settings.md")).toContain("| `front.port` |");
  });

  it("describes every field", () => {
    const undescribed = (schema: unknown, path: string): readonly string[] => {
      if (!isFields(schema) || typeof schema.description === "string") return [];
      const below = isFields(schema.properties) ? Object.entries(schema.properties) : [];
      if (below.length === 0 && schema.items === undefined) return [path];
      return [...below, ...(schema.items === undefined ? [] : [["[]", schema.items] as const])].flatMap(([name, one]) =>
        undescribed(one, `${path}.${name}`),
      );
    };
    expect(undescribed(settingsJsonSchema(), "")).toEqual([]);
    expect(undescribed({ properties: { a: { type: "string" } } }, "")).toEqual([".a"]);
    expect(settingsFields().length).toBeGreaterThan(60);
  });
});

describe("a settings file that lies among a mesh's objects", () => {
  it("is told where it belongs, for each of its fields", () => {
    expect([...servingFields]).toEqual([...new Set(settingsFields().map(({ path: [first] }) => first))]);
    const { diagnostics } = readFolderSettings("front: {}\nfrnt: {}\n", "portolan.yaml");
    expect(diagnostics.map(({ hint }) => hint.includes("`portolan serve`"))).toEqual([true, false]);
  });
});
