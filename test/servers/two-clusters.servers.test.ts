import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadAll } from "js-yaml";
import picocolors from "picocolors";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { type Fields, fieldsOf, listOf, textOf } from "../../lib/base/untyped.ts";
import { runCli } from "../../lib/cli/program.ts";
import { createRecompiler } from "../../lib/compile/recompile.ts";
import { webhookApp } from "../../lib/compile/webhook/app.ts";
import { noSecrets } from "../../lib/compile/webhook/webhook-secrets.ts";
import { serveHttp } from "../../lib/front/node-server.ts";
import { newestRoot, readHead } from "../../lib/snapshot/head/head.ts";
import { createSnapshotReader } from "../../lib/snapshot/reader/snapshot-reader.ts";
import { fileStore } from "../../lib/storage/files/files.ts";
import { type ApiServer, openApiServer } from "./api-server.ts";
import { installIstioKinds } from "./custom-resources.ts";
import { hasApiServer } from "./server-binaries.ts";

const sample = new URL("../../samples/clusters/", import.meta.url).pathname;
const secret = "a-shared-secret";

/** Where the kinds of the sample lie in an API server. */
const collections: Readonly<Record<string, readonly [base: string, plural: string]>> = {
  Namespace: ["/api/v1", "namespaces"],
  Service: ["/api/v1", "services"],
  Pod: ["/api/v1", "pods"],
  EndpointSlice: ["/apis/discovery.k8s.io/v1", "endpointslices"],
  VirtualService: ["/apis/networking.istio.io/v1", "virtualservices"],
  Gateway: ["/apis/networking.istio.io/v1", "gateways"],
};

/** Makes the objects of some files, pods with the status that a kubelet would write. */
async function fill(server: ApiServer, files: readonly string[]): Promise<void> {
  const texts = await Promise.all(files.map((file) => readFile(join(sample, file), "utf8")));
  // An API server takes no endpoint on the loopback.
  const objects = texts.flatMap((text) => loadAll(text.replaceAll("127.0.0.", "10.9.0."))).map(fieldsOf);
  await server.ask("POST", "/api/v1/namespaces", { metadata: { name: "clusters" } });
  for (const object of objects) {
    const [base = "", plural = ""] = collections[textOf(object.kind)] ?? [];
    if (plural === "namespaces") continue;
    const path = `${base}/namespaces/clusters/${plural}`;
    const { status, ...rest } = object;
    await server.ask("POST", path, rest);
    const name = textOf(fieldsOf(object.metadata).name);
    if (plural === "pods")
      await server.ask("PATCH", `${path}/${name}/status`, { status }, "application/merge-patch+json");
  }
}

/** All that a server holds of the sample's kinds, as `kubectl get -A -o yaml` says it. */
async function exported(server: ApiServer, kinds: readonly string[]): Promise<string> {
  const documents: string[] = [];
  for (const kind of kinds) {
    const [base = "", plural = ""] = collections[kind] ?? [];
    const list = await server.ask("GET", `${base}/${plural}`);
    for (const item of listOf(list.items))
      documents.push(JSON.stringify({ ...fieldsOf(item), kind, apiVersion: list.apiVersion }));
  }
  return documents.join("\n---\n");
}

/** A compile function's, where `dev` has a shorter one. */
const usualDelay = ["--poll-delay", "1000"];

/** What is served of the newest root, by the hashes of its parts: all but which sources it is made from. */
async function servedOf(folder: string): Promise<Fields> {
  const store = fileStore(folder);
  const head = (await readHead(store))?.head;
  if (head === undefined) throw new Error(`nothing was published in ${folder}`);
  const { root } = await createSnapshotReader(store).root(newestRoot(head));
  const { tables, classes, classifier, nodes } = root;
  return { tables, classes, classifier, nodes };
}

describe.skipIf(!hasApiServer())("two real API servers", { timeout: 240_000 }, () => {
  let folder = "";
  let here: ApiServer;
  let east: ApiServer;
  const lines: string[] = [];
  const run = async (...args: readonly string[]): Promise<void> => {
    lines.length = 0;
    const tell = (line: string) => void lines.push(line);
    const terminal = { out: tell, err: tell, colours: picocolors.createColors(false) };
    if ((await runCli(["node", "portolan", ...args], terminal)) !== 0) throw new Error(lines.join("\n"));
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "portolan-two-clusters-"));
    here = await openApiServer();
    await installIstioKinds(here);
    await fill(here, ["gateway.yaml", "catalog.yaml"]);
    east = await openApiServer();
    await fill(east, ["clusters/east.yaml"]);
    const [first, second] = await Promise.all([here, east].map((one) => one.kubeconfigFor(one.url)));
    for (const [name, text] of [
      ["here", first],
      ["east", second],
    ] as const)
      await writeFile(
        join(folder, `${name}.json`),
        (text ?? "")
          .replaceAll('"test"', `"${name}"`)
          .replaceAll('"c"', `"c-${name}"`)
          .replaceAll('"u"', `"u-${name}"`),
      );
    const mesh = join(folder, "mesh");
    await mkdir(join(mesh, "clusters"), { recursive: true });
    await writeFile(join(mesh, "here.yaml"), await exported(here, Object.keys(collections)));
    const runs = ["Namespace", "Service", "Pod", "EndpointSlice"];
    await writeFile(join(mesh, "clusters", "east.yaml"), await exported(east, runs));
    await run("dev", mesh, "--once", "--json", ...usualDelay, "--store", join(folder, "from-folders"));
  }, 240_000);
  afterAll(async () => {
    await here.close();
    await east.close();
    await rm(folder, { recursive: true, force: true });
  });
  afterEach(() => vi.unstubAllEnvs());
  const contexts = () =>
    vi.stubEnv("KUBECONFIG", ["here", "east"].map((name) => join(folder, `${name}.json`)).join(":"));

  it("followed by `dev --kube here --kube east` come to what their two folders come to", async () => {
    contexts();
    const store = join(folder, "dev");
    await run("dev", "--kube", "here", "--kube", "east", "--once", "--json", ...usualDelay, "--store", store);
    const served = await servedOf(store);
    expect(served).toEqual(await servedOf(join(folder, "from-folders")));
    await run("dev", "--kube", "east", "--once", "--json", "--store", join(folder, "east-alone"));
    expect(await servedOf(join(folder, "east-alone"))).not.toEqual(served);
  });

  it("collected by two collectors for a compile function come to the same", async () => {
    contexts();
    vi.stubEnv("PORTOLAN_WEBHOOK_SECRET", secret);
    const where = join(folder, "compile-function");
    const store = fileStore(where);
    const sources = ["here", "east"];
    const secrets = { ...noSecrets, operators: [secret] };
    const recompile = createRecompiler({ store, sources });
    const compile = await serveHttp(webhookApp({ store, recompile, secrets, sources }), 0);
    try {
      for (const [name, cluster] of [
        ["east", "east"],
        ["here", "Kubernetes"],
      ] as const)
        await run(
          ...["collect", "kube", "--context", name, "--source", name, "--cluster", cluster],
          ...["--once", "--store", compile.url],
        );
    } finally {
      await compile.close();
    }
    expect(await servedOf(where)).toEqual(await servedOf(join(folder, "from-folders")));
  });

  it("are no two collectors of one source", async () => {
    contexts();
    const store = join(folder, "one-source");
    const collect = (name: string, ...more: readonly string[]) =>
      run("collect", "kube", "--context", name, "--once", "--no-compile", "--store", store, ...more);
    await collect("here");
    await expect(collect("east")).rejects.toThrow(
      /source kubernetes is of another origin, the cluster Kubernetes \(cluster [0-9a-f-]+\)/,
    );
    await collect("east", "--take-over");
    await expect(collect("here")).rejects.toThrow("is of another origin");
  });

  it("are looked through by `bootstrap --kube`, which `dev` proposes", async () => {
    contexts();
    await run("bootstrap", "--kube=here");
    expect(lines).toContain("gateway-1.clusters\trouter");
    await run("bootstrap", "gateway-1.clusters", "--kube=here");
    expect(lines.join("\n")).toContain("id: router~10.9.0.1~gateway-1.clusters~clusters.svc.cluster.local");
  });
});
