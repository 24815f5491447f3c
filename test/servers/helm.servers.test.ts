import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { load, loadAll } from "js-yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Fields, fieldsOf, listOf, textOf } from "../../lib/base/untyped.ts";
import { readSettings } from "../../lib/settings/read-settings.ts";
import { lacks } from "../skip.ts";
import { type ApiServer, createObject, openApiServer } from "./api-server.ts";
import { byName, manifestText, ofKind, podOf, printedInstall, serveBase } from "./serve-base.ts";
import { hasApiServer, kubernetesVersion, serverBinary } from "./server-binaries.ts";

const helm = serverBinary("helm-3.22.0");
const chart = resolve(import.meta.dirname, "../../infra/helm/portolan");
const usual = ["store=s3://mesh/prod", "env.AWS_REGION=eu-central-1"];

/** What `helm install` would apply. @param values of `--set` @throws Error with Helm's words */
async function rendered(values: readonly string[] = usual, release = "portolan"): Promise<readonly Fields[]> {
  const sets = values.flatMap((value) => ["--set", value]);
  // Built without a release's flags, Helm takes the cluster for an old one.
  const args = ["template", release, chart, "--namespace", "portolan", "--kube-version", kubernetesVersion, ...sets];
  const { stdout } = await promisify(execFile)(helm ?? "", args, { maxBuffer: 10_000_000 });
  return loadAll(stdout)
    .map(fieldsOf)
    .filter(({ kind }) => kind !== undefined);
}

/** The base with the images that its kustomization names. */
async function baseWithImages(): Promise<readonly Fields[]> {
  const { images } = fieldsOf(load(await manifestText("serve/kustomization.yaml")));
  const [{ name, newTag } = {}] = listOf(images).map(fieldsOf);
  const withTag = (_: string, value: unknown) => (value === name ? `${textOf(name)}:${textOf(newTag)}` : value);
  return (await serveBase()).map((manifest) =>
    manifest.kind === "Deployment"
      ? fieldsOf(JSON.parse(JSON.stringify(manifest), (key, value) => (key === "image" ? withTag(key, value) : value)))
      : manifest,
  );
}

describe.skipIf(lacks(helm !== undefined, "Helm: npm run test:servers builds it with Go"))("the chart", () => {
  it("has the objects of the base for kustomize, but for namespaces, and closes its own pods only", async () => {
    const closed = "NetworkPolicy portolan/portolan-nothing";
    const [chartObjects, baseObjects] = [byName(await rendered()), byName(await baseWithImages())];
    const wanted = [...baseObjects].filter(([name]) => !name.startsWith("Namespace ") && name !== closed);
    expect(wanted.length).toBeGreaterThan(10);
    expect([...chartObjects].filter(([name]) => name !== closed)).toEqual(wanted);
    const own = { matchLabels: { "app.kubernetes.io/name": "portolan" } };
    expect(chartObjects.get(closed)).toMatchObject({
      spec: { podSelector: own, policyTypes: ["Ingress", "Egress"] },
    });
  });

  it.each([
    ["portolan", []],
    ["portolan-canary", ["--revision", "canary", "--tags", "next", "--workload-entries"]],
  ])("has the objects of `portolan install` as release %s, but for namespaces", async (release, args) => {
    const features = ["ca", "admission", "injection", "istiodService"].map((feature) => `${feature}.enabled=true`);
    const entries = ["compile.collectors[0].kind=kube", "compile.collectors[0].workloadEntries=true"];
    const values = args.length === 0 ? [] : ["revision=canary", "injection.tags={next}", ...entries];
    const installed = byName(await printedInstall(...args));
    const wanted = [...installed].filter(([name]) => !name.startsWith("Namespace "));
    expect(wanted.length).toBeGreaterThan(25);
    expect([...byName(await rendered([...usual, ...features, ...values], release))]).toEqual(wanted);
  });

  it("puts own values into settings that are right, and keeps what the fronts need", async () => {
    const values = [
      "store=gs://mesh/prod",
      "front.settings.wanted=true",
      "front.settings.port=1",
      "compile.collectors=null",
    ];
    const [front, compile] = ofKind(await rendered(values, "blue"), "ConfigMap").map(({ data }) =>
      readSettings(textOf(fieldsOf(data)["portolan.yaml"]), "portolan.yaml"),
    );
    expect([front?.diagnostics, compile?.diagnostics]).toEqual([[], []]);
    expect(front?.value).toMatchObject({
      store: "gs://mesh/prod",
      front: { wanted: true, port: 8080, compileUrl: "http://blue-portolan-compile.portolan.svc:8082" },
    });
    expect(compile?.value?.store).toBe("gs://mesh/prod");
  });

  it.each([
    [[], "store"],
    [["store=mesh-store"], "store"],
    [["store=s3://mesh", "frnt.replicas=2"], "frnt"],
    [["store=s3://mesh", "front.replicas=0"], "replicas"],
    [["store=s3://mesh", "admission.enabled=true"], "ca.enabled"],
  ])("refuses the values %j", async (values, want) => {
    await expect(rendered(values)).rejects.toThrow(want);
  });

  describe.skipIf(!hasApiServer())("on a real API server", { timeout: 180_000 }, () => {
    let server: ApiServer;
    beforeAll(async () => {
      server = await openApiServer();
    });
    afterAll(() => server.close());

    it("is taken whole, and its pods by a namespace that takes restricted ones only", async () => {
      const create = (manifest: Fields) => createObject(server, manifest, "?fieldValidation=Strict");
      for (const namespace of ofKind(await serveBase(), "Namespace")) await create(namespace);
      const values = [
        ...usual,
        ...["ca", "admission", "injection", "istiodService"].map((feature) => `${feature}.enabled=true`),
        "podLabels.team=mesh",
        "image.pullSecrets[0].name=registry",
        "nodeSelector.disk=ssd",
        "tolerations[0].operator=Exists",
        "front.serviceAccountAnnotations.role=reader",
        "compile.serviceAccountAnnotations.role=writer",
      ];
      const manifests = await rendered(values);
      for (const manifest of manifests) await create(manifest);
      const deployments = ofKind(manifests, "Deployment");
      expect(deployments).toHaveLength(3);
      for (const deployment of deployments) await create(podOf(deployment));
    });
  });
});
