/** The files of infra/kubernetes say what `portolan install` applies. */
import { loadAll } from "js-yaml";
import { describe, expect, it } from "vitest";
import { type Fields, fieldsOf, textOf } from "../../../lib/base/untyped.ts";
import { refusedSettings } from "../../../lib/cli/serve/refused-settings.ts";
import { parts } from "../../../lib/cli/serve/rule.ts";
import { readSettings } from "../../../lib/settings/read-settings.ts";
import { byName, installText, manifestText, ofKind, printedInstall, serveBase } from "../../servers/serve-base.ts";

const image = ["--image", "portolan"];
const rulesOf = (objects: readonly Fields[], name: string): readonly unknown[] =>
  objects
    .filter(({ kind, metadata }) => /^(?:Cluster)?Role$/.test(textOf(kind)) && fieldsOf(metadata).name === name)
    .map(({ rules }) => rules);

describe("portolan install", () => {
  it("prints infra/kubernetes/istiod/portolan.yaml", async () => {
    // Its kustomization names the command that prints the file.
    expect(await manifestText("istiod/portolan.yaml")).toBe(await installText(...image));
  });

  it("is the base infra/kubernetes/serve without what takes istiod's place", async () => {
    const installed = byName(await printedInstall(...image, "--without", "ca", "admission", "injection", "istiod"));
    const base = byName(await serveBase());
    const closed = "NetworkPolicy portolan/portolan-nothing";
    expect([...installed].filter(([name]) => name !== closed)).toEqual([...base].filter(([name]) => name !== closed));
    expect(installed.get(closed)).toMatchObject({
      spec: { podSelector: { matchLabels: { "app.kubernetes.io/name": "portolan" } } },
    });
  });

  it("grants what secret-names.yaml does with --secret-names", async () => {
    const wanted = rulesOf(
      loadAll(await manifestText("secret-names.yaml")).map(fieldsOf),
      "portolan-collector-secret-names",
    );
    expect(wanted.length).toBeGreaterThan(0);
    expect(rulesOf(await printedInstall("--secret-names"), "portolan-secret-names")).toEqual(wanted);
    expect(rulesOf(await printedInstall(), "portolan-secret-names")).toEqual([]);
  });

  it("grants what workload-entries.yaml does with --workload-entries, and only then", async () => {
    const name = "workload-entries";
    const wanted = rulesOf(loadAll(await manifestText(`${name}.yaml`)).map(fieldsOf), `portolan-collector-${name}`);
    expect(wanted.length).toBeGreaterThan(0);
    expect(rulesOf(await printedInstall("--workload-entries"), `portolan-${name}`)).toEqual(wanted);
    expect(rulesOf(await printedInstall(), `portolan-${name}`)).toEqual([]);
  });

  it.each([[[]], [["--revision", "canary", "-n", "mesh", "--istio-namespace", "control"]]])(
    "writes settings that are right, with %j",
    async (args) => {
      const maps = ofKind(await printedInstall(...args), "ConfigMap");
      expect(maps).toHaveLength(3);
      for (const { data } of maps) {
        const { value, diagnostics } = readSettings(textOf(fieldsOf(data)["portolan.yaml"]), "portolan.yaml");
        expect(diagnostics).toEqual([]);
        // What is in the files of Secrets is not known here.
        const unread = new Set(["secretsKey", "front.authentication", "front.compileSecret", "compile.webhook"]);
        expect(value === undefined ? "none" : refusedSettings(value, new Set(parts), unread)).toEqual([]);
      }
    },
  );

  it("gives a revision names of its own, Istio's names to its Services, and a tag its selectors", async () => {
    const objects = await printedInstall("--revision", "canary", "--tags", "next");
    const names = objects.map(({ kind, metadata }) => `${textOf(kind)} ${textOf(fieldsOf(metadata).name)}`);
    expect(names).toEqual(
      expect.arrayContaining([
        "Service istiod-canary",
        "ClusterRole portolan-canary",
        "MutatingWebhookConfiguration portolan-sidecar-injector-canary",
      ]),
    );
    const own = names.filter((name) => !name.startsWith("Namespace "));
    const usual = (await printedInstall()).map(
      ({ kind, metadata }) => `${textOf(kind)} ${textOf(fieldsOf(metadata).name)}`,
    );
    expect(own.filter((name) => usual.includes(name))).toEqual([]);
    const tag = objects.find(({ metadata }) => fieldsOf(metadata).name === "portolan-revision-tag-next");
    expect(tag?.metadata).toMatchObject({ labels: { "istio.io/rev": "canary", "istio.io/tag": "next" } });
    expect(JSON.stringify(tag?.webhooks)).toContain('{"key":"istio.io/rev","operator":"In","values":["next"]}');
    const [front] = ofKind(objects, "ConfigMap").map(({ data }) => textOf(fieldsOf(data)["portolan.yaml"]));
    for (const name of ["istiod.istio-system.svc", "istiod-canary.istio-system.svc", "portolan-canary.portolan.svc"])
      expect(front).toContain(`- ${name}\n`);
  });

  it.each([
    [["--without", "ca"], "--without ca needs --without admission"],
    [["--store", "./folder"], "pods cannot share the store ./folder: name a bucket with --store"],
    [["--revision", "a b"], "must be a DNS name"],
    [["--env", "region=x"], "must be NAME=VALUE"],
  ])("refuses %j", async (args, message) => {
    await expect(installText(...args)).rejects.toThrow(message);
  });
});
