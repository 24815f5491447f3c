import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bootstrapFor, proxiesIn } from "../../../lib/cli/proxy/bootstrap.ts";
import { readFolder } from "../../../lib/config/folder/folder.ts";
import { startDev } from "../../e2e/dev-process.ts";
import { eventually, type RunningEnvoy, startEnvoy } from "../../e2e/envoy.ts";
import { runPortolan as run } from "../run-portolan.ts";

/**
 * Services with endpoints in several localities, of several weights, that are ready and that are not, and with none at all, with failover
 * and with distribution: an Envoy on a stream dumps each of them in other words than it was sent.
 */
const mesh = new URL("running-diff/objects.yaml", import.meta.url).pathname;
const node = "web-1.shop";

describe.each(["sotw", "delta"] as const)("proxy-config --diff of an Envoy on an ADS stream, %s", (kind) => {
  let dev: Awaited<ReturnType<typeof startDev>>;
  let envoy: RunningEnvoy;
  let url = "";
  let folder = "";

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "portolan-diff-"));
    await cp(mesh, join(folder, "objects.yaml"));
    dev = await startDev(folder, ["--grpc-port", "0", "--certificates", "none"]);
    const proxy = proxiesIn(await readFolder(folder)).find((one) => one.proxy.id === node);
    if (proxy === undefined) throw new Error("the mesh has the sidecar");
    envoy = await startEnvoy(bootstrapFor(proxy, dev.grpcUrl, 0, { transport: kind, certificates: "none" }));
    url = envoy.adminUrl;
    await eventually(
      () => envoy.admin("/config_dump?include_eds"),
      (text) => ["192.0.2.1", "10.1.0.2", "10.1.0.3"].every((address) => text.includes(`"${address}"`)),
      60_000,
    );
  }, 240_000);
  afterAll(async () => {
    await envoy.stop();
    await dev.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it("finds nothing where it runs what it is served", async () => {
    const { out } = await run("proxy-config", "all", node, "--admin", url, "--server", dev.url, "--diff");
    expect(out).toContain("the running configuration equals the compiled one");
  }, 60_000);

  it("finds what differs in endpoints, and nothing else", async () => {
    const other = await mkdtemp(join(tmpdir(), "portolan-diff-"));
    const text = await readFile(mesh, "utf8");
    const changed = text
      .replace("{address: 192.0.2.1, weight: 3", "{address: 192.0.2.1, weight: 5")
      .replace("podIP: 10.1.0.2, podIPs: [{ip: 10.1.0.2}]", "podIP: 10.1.0.7, podIPs: [{ip: 10.1.0.7}]");
    await writeFile(join(other, "objects.yaml"), changed);
    const { out } = await run(
      "proxy-config",
      "endpoints",
      node,
      "--admin",
      url,
      "--dir",
      other,
      "--diff",
      "-o",
      "json",
    );
    await rm(other, { recursive: true, force: true });
    const { differences }: { readonly differences: readonly { readonly name: string; readonly places: unknown }[] } =
      JSON.parse(out);
    const placesOf = (name: string) => JSON.stringify(differences.find((one) => one.name === name)?.places);
    expect(placesOf("outbound|443||outside.example.com")).toContain('"before":5,"after":3');
    // Beside an endpoint that is not ready and the same in both.
    const cart = placesOf("outbound|80||cart.shop.svc.cluster.local");
    expect(cart).toContain('lbEndpoints[10.1.0.7:8080]","before"');
    expect(cart).toContain('lbEndpoints[10.1.0.2:8080]","after"');
    expect(differences.map(({ name }) => name)).not.toContain("outbound|80||empty.shop.svc.cluster.local");
  }, 60_000);
});
