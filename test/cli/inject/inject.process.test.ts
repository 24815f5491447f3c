import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadAll } from "js-yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fieldsOf, listOf } from "../../../lib/base/untyped.ts";
import { runPortolan } from "../run-portolan.ts";

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
        - name: web
          image: web:1
`;
const service = `# who serves the shop
apiVersion: v1
kind: Service
metadata: {name: web}
`;

describe("portolan inject", () => {
  let folder: string;
  const put = async (name: string, text: string) => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "portolan-inject-"));
    await put("a.yaml", deployment);
    await put("b.yaml", service);
    await put("mesh.yaml", "defaultConfig: {holdApplicationUntilProxyStarts: true}\n");
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const containersOf = (text: string) =>
    loadAll(text)
      .map(fieldsOf)
      .flatMap(({ spec }) => listOf(fieldsOf(fieldsOf(fieldsOf(spec).template).spec).containers))
      .map((one) => fieldsOf(one).name);

  it("prints a folder with proxies, by its mesh.yaml, and everything else as it was written", async () => {
    const { code, out } = await runPortolan("inject", "-f", folder);
    expect(code).toBe(0);
    expect(containersOf(out)).toEqual(["istio-proxy", "web"]);
    expect(out).toContain(service.trim());
    expect(out).not.toContain("defaultConfig:");
  });

  it("and takes them out again", async () => {
    const { out } = await runPortolan("inject", join(folder, "a.yaml"));
    const file = await put("injected.yaml.txt", out);
    const { out: bare } = await runPortolan("inject", "--uninject", file);
    expect(loadAll(bare)).toEqual(loadAll(deployment));
  });

  it("takes values, a revision, a template and native sidecars from the command line", async () => {
    const values = await put("values.json", JSON.stringify({ global: { hub: "example.com/istio", tag: "7" } }));
    const { out } = await runPortolan(
      "inject",
      join(folder, "a.yaml"),
      "--values",
      values,
      "--revision",
      "canary",
      "--native-sidecars",
    );
    expect(out).toContain("example.com/istio/proxyv2:7");
    expect(out).toContain("istiod-canary.istio-system.svc:15012");
    expect(out).toContain("restartPolicy: Always");
    expect((await runPortolan("inject", join(folder, "a.yaml"), "--template", "portolan")).out).toContain(
      "portolan-intercept",
    );
  });

  it("prints JSON for programs", async () => {
    const { items } = fieldsOf(JSON.parse((await runPortolan("inject", folder, "--json")).out));
    expect(listOf(items).map((one) => fieldsOf(one).kind)).toEqual(expect.arrayContaining(["Deployment", "Service"]));
  });

  it("opens lists, and says which workloads get no proxy", async () => {
    const host = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "host" },
      spec: { hostNetwork: true, containers: [] },
    };
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "web" },
      spec: { containers: [{ name: "web", image: "w" }] },
    };
    const list = await put("list.json", JSON.stringify({ apiVersion: "v1", kind: "List", items: [host, pod] }));
    const { out, err } = await runPortolan("inject", list);
    expect(err).toBe('no proxy for Pod "default/host": it has host networking enabled');
    const [read] = loadAll(out).map(fieldsOf);
    expect(listOf(read?.items).map((one) => listOf(fieldsOf(fieldsOf(one).spec).containers).length)).toEqual([0, 2]);
  });

  const annotated = (...lines: readonly string[]) =>
    deployment.replace("labels:", ["annotations:", ...lines.map((line) => `  ${line}`), "labels:"].join("\n      "));

  it("names every annotation that cannot be read by its line and path, and prints nothing", async () => {
    const wrong = annotated("sidecar.istio.io/proxyCPU: much", "sidecar.istio.io/proxyMemory: more");
    const pod = `apiVersion: v1
kind: Pod
metadata:
  name: web
  annotations:
    inject.istio.io/templates: none
spec: { containers: [{ name: web }] }
`;
    const file = await put("wrong.yaml.txt", `${wrong}---\n${pod}---\n{`);
    const { code, out, err } = await runPortolan("inject", file);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    const [unreadable, first, second, third, end] = err.split("\n").filter((line) => !line.startsWith("  hint:"));
    expect(first).toMatch(/^error .*wrong\.yaml\.txt:9 Deployment default\/web: spec\.template\.metadata\.annotations/);
    expect(first).toContain("invalid value 'much' for annotation 'sidecar.istio.io/proxyCPU'");
    expect(second).toMatch(/txt:10 .*'more'/);
    expect(third).toMatch(/txt:18 Pod default\/web: requested template "none" not found/);
    expect(unreadable).toMatch(/txt:2\d: .*unreadable-document/);
    expect(end).toBe("portolan: nothing is printed: 4 errors in what was to be injected");
  });

  it("warns of annotations that have no effect", async () => {
    const file = await put(
      "vain.yaml.txt",
      annotated('sidecar.istio.io/nativeSidecar: "yes"', "sidecar.istio.io/proxyCpu: 100m", "example.com/any: x"),
    );
    const { code, out, err } = await runPortolan("inject", file);
    expect([code, containersOf(out)]).toEqual([0, ["web", "istio-proxy"]]);
    expect(err.split("\n")).toEqual([
      expect.stringMatching(/^warning .*txt:9 .*must be true or false; it has no effect/),
      expect.stringMatching(/^warning .*txt:10 .*did you mean 'sidecar.istio.io\/proxyCPU'\?/),
    ]);
  });

  it.each([
    [["--values", "none.yaml"], "none.yaml cannot be read"],
    [["-f", "none.yaml"], "cannot read none.yaml"],
  ])("says what is wrong with %j", async (args, says) => {
    const { code, err } = await runPortolan("inject", join(folder, "a.yaml"), ...args);
    expect(code).toBe(1);
    expect(err).toContain(says);
  });
});

describe("portolan admission manifests", () => {
  it("prints a configuration that leaves the system's namespace alone and no other", async () => {
    const { out } = await runPortolan(
      "admission",
      "manifests",
      "--service",
      "portolan/admission:8443",
      "--failure-policy",
      "Ignore",
    );
    const [configuration] = loadAll(out).map(fieldsOf);
    expect(fieldsOf(listOf(configuration?.webhooks)[0])).toMatchObject({
      clientConfig: { service: { namespace: "portolan", name: "admission", port: 8443, path: "/admission/validate" } },
      failurePolicy: "Ignore",
      namespaceSelector: {
        matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "NotIn", values: ["kube-system"] }],
      },
    });
  });

  it.each([
    [["--url", "http://a.com"], 2, "an address is https://HOST"],
    [["--service", "admission"], 2, "a Service is NAMESPACE/NAME"],
    [[], 2, "name the webhook with --service or --url"],
    [["--url", "https://a.com", "--ca", "package.json"], 1, "holds no certificate in PEM"],
  ])("refuses %j with exit code %i", async (args, exit, says) => {
    const { code, err } = await runPortolan("admission", "manifests", ...args);
    expect(code).toBe(exit);
    expect(err).toContain(says);
  });
});
