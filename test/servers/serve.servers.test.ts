import { loadAll } from "js-yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Fields, fieldsOf, listOf, textOf } from "../../lib/base/untyped.ts";
import { readSettings } from "../../lib/settings/read-settings.ts";
import { type ApiServer, createObject, openApiServer } from "./api-server.ts";
import { serveBase as base, ofKind, podOf, manifestText as textIn } from "./serve-base.ts";
import { hasApiServer } from "./server-binaries.ts";

describe("the base of infra/kubernetes/serve", () => {
  it("holds settings that are right", async () => {
    const read = ofKind(await base(), "ConfigMap").map(({ data }) =>
      readSettings(textOf(fieldsOf(data)["portolan.yaml"]), "portolan.yaml"),
    );
    expect(read.flatMap(({ diagnostics }) => diagnostics)).toEqual([]);
    const [front, compile] = read.map(({ value }) => value);
    expect(compile?.collectors).toEqual([{ kind: "kube" }]);
    expect(compile?.store).toBe(front?.store);
  });

  it("gives a front no secret that may write, and mounts none", async () => {
    const manifests = await base();
    const mounted = ofKind(manifests, "Deployment").map((deployment) => {
      const { volumes } = fieldsOf(fieldsOf(fieldsOf(deployment.spec).template).spec);
      const names = listOf(volumes).map(fieldsOf);
      return names.map(({ secret, configMap }) => textOf(fieldsOf(secret).secretName ?? fieldsOf(configMap).name));
    });
    expect(mounted).toEqual([
      ["portolan-front-settings", "portolan-front"],
      ["portolan-settings", "portolan-compile"],
    ]);
    const [front] = ofKind(manifests, "ConfigMap");
    const { value } = readSettings(textOf(fieldsOf(front?.data)["portolan.yaml"]), "portolan.yaml");
    expect(value?.compile).toBeUndefined();
    expect(value?.front?.compileSecret).toBe("@/etc/portolan-secret/front-secret");
  });

  it("closes both ways what no rule opens", async () => {
    const policies = ofKind(await base(), "NetworkPolicy").map(({ spec }) => fieldsOf(spec));
    expect(policies).toContainEqual({ podSelector: {}, policyTypes: ["Ingress", "Egress"] });
    const rules = policies.flatMap(({ ingress }) => listOf(ingress)).map(fieldsOf);
    expect(rules.length).toBeGreaterThan(0);
    // A rule without one of them is a rule for all peers, or all ports.
    for (const { from, ports } of rules) expect([listOf(from).length, listOf(ports).length]).not.toContain(0);
  });

  it("may read what the collector of its own may, and no more", async () => {
    const collector = loadAll(await textIn("collector.yaml")).map(fieldsOf);
    for (const kind of ["ClusterRole", "Role"]) {
      const [own] = ofKind(await base(), kind);
      expect(own?.rules).toEqual(ofKind(collector, kind)[0]?.rules);
      expect(own?.rules).toBeDefined();
    }
  });
});

describe.skipIf(!hasApiServer())("a real API server", { timeout: 180_000 }, () => {
  let server: ApiServer;
  beforeAll(async () => {
    server = await openApiServer();
  });
  afterAll(() => server.close());

  const create = (manifest: Fields) => createObject(server, manifest, "?fieldValidation=Strict");

  it("takes all of it, and its pods into a namespace that takes restricted ones only", async () => {
    const manifests = await base();
    for (const manifest of manifests) await create(manifest);
    const deployments = ofKind(manifests, "Deployment");
    expect(deployments).toHaveLength(2);
    for (const deployment of deployments) await create(podOf(deployment));
    const root = { name: "root", namespace: "portolan" };
    const careless = { containers: [{ name: "root", image: "portolan" }], serviceAccountName: "portolan" };
    await expect(create({ apiVersion: "v1", kind: "Pod", metadata: root, spec: careless })).rejects.toThrow(
      /PodSecurity/,
    );
  });
});
