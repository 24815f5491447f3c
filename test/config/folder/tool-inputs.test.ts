import { describe, expect, it } from "vitest";
import { readFiles } from "../../../lib/config/folder/directory.ts";
import type { FolderState } from "../../../lib/config/folder/folder-state.ts";
import { folderOf, noFolder, readAgain } from "../../../lib/config/folder/last-valid.ts";
import { wholeFolder } from "../../../lib/config/folder/whole-folder.ts";
import { files, hosts, rule } from "./folders.ts";

/** No whole rule: it lacks its host. */
const patch = rule("a", "a.example").replace("host: a.example", "trafficPolicy: {loadBalancer: {simple: RANDOM}}");
const json = "- {op: replace, path: /spec/host, value: b.example}\n";

/** What is said of a folder: `info kustomize-input b.yaml`. */
const said = (texts: Readonly<Record<string, string>>) =>
  readFiles(files(texts)).diagnostics.map(({ severity, code, origin }) => `${severity} ${code} ${origin.file}`);

const passedOver = (file: string, list: string) => [`info kustomize-input ${list}`, `info kustomize-input ${file}`];

describe("inputs of Kustomize", () => {
  it.each([
    { list: "kustomization.yaml", says: "patches: [{path: p.yaml}]", file: "p.yaml" },
    {
      list: "kustomization.yml",
      says: "patches: [{path: ./deep/p.yaml, target: {kind: DestinationRule}}]",
      file: "deep/p.yaml",
    },
    { list: "overlays/prod/kustomization.yaml", says: "patches: [{path: ../../p.yaml}]", file: "p.yaml" },
    { list: "prod/kustomization.yaml", says: "patchesStrategicMerge: [p.yaml]", file: "prod/p.yaml" },
    {
      list: "prod/kustomization.yaml",
      says: "patchesJson6902: [{path: p.yaml, target: {kind: DestinationRule, name: a}}]",
      file: "prod/p.yaml",
    },
    {
      list: "prod/kustomization.yaml",
      says: "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\npatches: [{path: p.yaml}]",
      file: "prod/p.yaml",
    },
    {
      list: "prod/kustomization.yaml",
      says: "configMapGenerator: [{name: c, files: [x=p.yaml]}]",
      file: "prod/p.yaml",
    },
    { list: "prod/kustomization.yaml", says: "transformers: [p.yaml]", file: "prod/p.yaml" },
  ])("are passed over in one line each: $list says $says", ({ list, says, file }) => {
    const base = { "base/a.yaml": rule("a", "a.example"), [list]: says };
    for (const text of [patch, `${rule("a", "c.example")}`, "kind: Any\n", "a: [\n"]) {
      expect(said({ ...base, [file]: text })).toEqual(expect.arrayContaining(passedOver(file, list)));
      expect(said({ ...base, [file]: text })).toHaveLength(2);
      expect(readFiles(files({ ...base, [file]: text })).configs.map(({ origin }) => origin.file)).toEqual([
        "base/a.yaml",
      ]);
    }
    expect(said({ ...base, [file]: json })).toEqual(expect.arrayContaining(passedOver(file, list)));
  });

  it("are no files that a list names as a resource, nor those that it does not name", () => {
    const lists = {
      "kustomization.yaml":
        "resources: [a.yaml, https://example.com/x?ref=v1, github.com/x/y]\npatches: [{patch: 'a: 1'}]",
      "b/kustomization.yaml": "patches: [{path: ../a.yaml}, {path: ../../out.yaml}]",
    };
    const { configs } = readFiles(
      files({ ...lists, "a.yaml": rule("a", "a.example"), "b/c.yaml": rule("c", "c.example") }),
    );
    expect(configs.map(({ meta }) => meta.name)).toEqual(["a", "c"]);
    expect(said({ ...lists, "p.yaml": patch })).toContain("error missing-field p.yaml");
  });

  it("close what they were to protect", () => {
    const policy =
      "apiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\nmetadata: {name: p, namespace: shop}\nspec: {rules: [{}]}\n";
    const { closed, configs } = readFiles(
      files({ "kustomization.yaml": "patches: [{path: p.yaml}]", "p.yaml": policy }),
    );
    expect([closed.length, configs.length]).toEqual([1, 0]);
  });
});

describe("inputs of Helm", () => {
  const chart = { "web/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0" };
  const template =
    'apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: a}\nspec: {host: "{{ .Values.host }}"}\n';
  it("are one line each in a chart: values, and templates, also those that can be read", () => {
    const texts = {
      ...chart,
      "web/values.yaml": "kind: Deployment\n",
      "web/templates/sub/a.yaml": template,
      "web/templates/b.yaml": rule("b", "b.example"),
    };
    expect(said(texts).sort()).toEqual([
      "info helm-template web/templates/sub/a.yaml",
      "info not-an-object web/Chart.yaml",
      "info not-an-object web/values.yaml",
    ]);
    expect(readFiles(files(texts)).configs.map(({ meta }) => meta.name)).toEqual(["b"]);
    expect(said({ ...chart, "templates/a.yaml": template.replace("name: a", "name: {{ .Release.Name }}") })).toContain(
      "error helm-template templates/a.yaml",
    );
  });
});

describe("a folder whose list of Kustomize is edited", () => {
  const before = { "a.yaml": rule("a", "a.example"), "kustomization.yaml": "resources: [a.yaml]" };
  const after = { "a.yaml": rule("a", "a.example"), "kustomization.yaml": "patches: [{path: a.yaml}]" };
  const [first, second] = [files(before), files(after)];
  const inRuns = (texts: typeof first) => ({
    files: texts,
    runs: texts.map((one) => runOf.get(one.text) ?? [one]),
    kept: [],
  });
  const runOf = new Map(first.map((one) => [one.text, [one]]));
  const ways: readonly [string, (state: FolderState, texts: typeof first) => FolderState][] = [
    ["as it lies on a disk", (state, texts) => readAgain(state, texts)],
    ["as it is stored", (state, texts) => folderOf(inRuns(texts), state)],
  ];
  it.each(ways)("says what it says when it is read for the first time: %s", (_, next) => {
    const one = next(noFolder, first);
    const two = next(one, second);
    expect(hosts(one)).toEqual(['a={"host":"a.example"}']);
    expect(wholeFolder(two)).toEqual(wholeFolder(next(noFolder, second)));
    expect(hosts(two)).toEqual([]);
    expect(wholeFolder(next(two, first))).toEqual(wholeFolder(one));
  });
});
