import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import picocolors from "picocolors";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fieldsOf } from "../../lib/base/untyped.ts";
import { runCli } from "../../lib/cli/program.ts";
import { type ApiServer, openApiServer } from "./api-server.ts";
import { installIstioKinds } from "./custom-resources.ts";
import { hasApiServer } from "./server-binaries.ts";

const service = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "cart", namespace: "shop", labels: { app: "cart" } },
  spec: { type: "NodePort", selector: { app: "cart" }, ports: [{ name: "http", port: 80 }] },
};
const route = (destination: string) => ({
  apiVersion: "networking.istio.io/v1",
  kind: "VirtualService",
  metadata: { name: "cart", namespace: "shop" },
  spec: { hosts: ["cart"], http: [{ route: [{ destination: { host: destination } }] }] },
});
const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "cart", namespace: "shop" },
  spec: {
    selector: { matchLabels: { app: "cart" } },
    template: { metadata: { labels: { app: "cart" } }, spec: { containers: [{ name: "cart", image: "cart:1" }] } },
  },
};
const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } };
const routePath = "/apis/networking.istio.io/v1/namespaces/shop/virtualservices/cart";
const servicePath = "/api/v1/namespaces/shop/services/cart";
const deploymentPath = "/apis/apps/v1/namespaces/shop/deployments/cart";

describe.skipIf(!hasApiServer())("commands with --kube, on a real API server", () => {
  let server: ApiServer;
  let folder: string;
  const before = process.env.KUBECONFIG;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "portolan-kube-write-"));
    server = await openApiServer();
    await installIstioKinds(server);
    process.env.KUBECONFIG = server.kubeconfig;
  });
  afterAll(async () => {
    if (before === undefined) delete process.env.KUBECONFIG;
    else process.env.KUBECONFIG = before;
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Runs a command with a file of objects; gives its lines. */
  const run = async (verb: string, objects: readonly object[], ...more: readonly string[]) => {
    const file = join(folder, "objects.yaml");
    await writeFile(file, objects.map((object) => JSON.stringify(object)).join("\n---\n"));
    const lines: string[] = [];
    const tell = (line: string) => void lines.push(line);
    const terminal = { out: tell, err: tell, colours: picocolors.createColors(false) };
    await runCli(["node", "portolan", verb, "-f", file, ...more, "--kube"], terminal);
    return lines.map((line) => line.replace(/revision \d+/, "revision N"));
  };

  it("say what the server says where the namespace is missing, and how to make it", async () => {
    expect((await run("apply", [route("cart")])).join("\n")).toContain(
      'namespaces "shop" not found: have the files hold the Namespace too, or make it with `kubectl create namespace shop`',
    );
  });

  it("apply leaves what others have written, and takes away what it wrote itself", async () => {
    expect(await run("apply", [service, route("cart"), deployment, namespace])).toEqual([
      "Created Namespace/shop at revision N",
      "Created Deployment.apps/shop/cart at revision N",
      "Created Service/shop/cart at revision N",
      "Created VirtualService/shop/cart at revision N",
    ]);
    const { spec } = await server.ask("GET", servicePath);
    const others = { labels: { team: "a" }, annotations: { note: "theirs" }, finalizers: ["example.com/keep"] };
    for (const path of [routePath, servicePath])
      await server.ask("PATCH", path, { metadata: others }, "application/merge-patch+json");
    await server.ask("PATCH", deploymentPath, { spec: { replicas: 3 } }, "application/merge-patch+json");

    const { labels: _labels, ...bare } = service.metadata;
    const changed = [{ ...service, metadata: bare }, route("cart-v2"), deployment, namespace];
    expect(await run("apply", changed, "--dry-run")).toEqual([
      "Unchanged Namespace/shop (dry run)",
      "Unchanged Deployment.apps/shop/cart (dry run)",
      "Updated Service/shop/cart (dry run)",
      "Updated VirtualService/shop/cart (dry run)",
    ]);
    expect((await server.ask("GET", routePath)).spec).toEqual(route("cart").spec);
    expect(await run("apply", changed)).toEqual([
      "Unchanged Namespace/shop",
      "Unchanged Deployment.apps/shop/cart",
      "Updated Service/shop/cart to revision N",
      "Updated VirtualService/shop/cart to revision N",
    ]);
    const newRoute = await server.ask("GET", routePath);
    expect(newRoute.spec).toEqual(route("cart-v2").spec);
    expect(newRoute.metadata).toMatchObject(others);
    const newService = await server.ask("GET", servicePath);
    expect(newService.spec).toEqual(spec);
    expect(fieldsOf(newService.metadata).labels).toEqual({ team: "a" });
    expect(newService.metadata).toMatchObject(others);
    expect((await server.ask("GET", deploymentPath)).spec).toMatchObject({ replicas: 3 });
  });

  it("apply --dry-run tells what would be made, and makes nothing", async () => {
    const other = { ...service, metadata: { name: "other", namespace: "shop" } };
    expect(await run("apply", [other], "--dry-run")).toEqual(["Created Service/shop/other (dry run)"]);
    await expect(server.ask("GET", "/api/v1/namespaces/shop/services/other")).rejects.toThrow("404");
  });

  it("replace writes the file over the object, and create refuses what is there", async () => {
    const lines = await run("create", [route("cart")]);
    expect(lines[0]).toBe("VirtualService/shop/cart: already exists");
    expect(await run("replace", [route("cart")])).toEqual(["Updated VirtualService/shop/cart to revision N"]);
    const { metadata } = await server.ask("GET", routePath);
    expect(fieldsOf(metadata).annotations).toBeUndefined();
  });

  it("delete takes away what apply has made, Kubernetes' own kinds too and namespaces last", async () => {
    for (const path of [routePath, servicePath])
      await server.ask("PATCH", path, { metadata: { finalizers: null } }, "application/merge-patch+json");
    expect(await run("delete", [namespace, service, route("cart"), deployment])).toEqual([
      "Deleted: Deployment cart",
      "Deleted: Service cart",
      "Deleted: VirtualService cart",
      "Deleted: Namespace shop",
    ]);
    await expect(server.ask("GET", servicePath)).rejects.toThrow("404");
    const { metadata } = await server.ask("GET", "/api/v1/namespaces/shop");
    expect(fieldsOf(metadata).deletionTimestamp).toBeDefined();
    expect(await run("delete", [service])).toEqual(["portolan: Service cart does not exist"]);
  });
});
