import { cp, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { redacted } from "../../../lib/cli/inspect/redact.ts";
import { bootstrapFor, proxiesIn } from "../../../lib/cli/proxy/bootstrap.ts";
import { readFolder } from "../../../lib/config/folder/folder.ts";
import { startDev } from "../../e2e/dev-process.ts";
import { eventually, type RunningEnvoy, startEnvoy } from "../../e2e/envoy.ts";
import { runPortolan as run } from "../run-portolan.ts";

const samples = new URL("../../../samples/bookshop", import.meta.url).pathname;
const gateway = "istio-ingressgateway-1.bookshop";

describe("portolan proxy-config", () => {
  it("shows what is compiled for a proxy, narrowed by what is asked for", async () => {
    const { out } = await run("proxy-config", "clusters", gateway, "--dir", samples, "--subset", "v2");
    expect(out.split("\n")).toHaveLength(2);
    expect(out).toMatch(/^catalog\.bookshop\.svc\.cluster\.local +9080 +v2 +outbound +EDS +bookshop\/catalog$/m);
    const endpoints = await run("pc", "endpoint", gateway, "--dir", samples, "--address", "127.0.0.12", "--json");
    const told: { readonly resources: readonly { readonly name: string }[] } = JSON.parse(endpoints.out);
    expect(told.resources.map(({ name }) => name).sort()).toEqual([
      "outbound|9080|v2|catalog.bookshop.svc.cluster.local",
      "outbound|9080||catalog.bookshop.svc.cluster.local",
    ]);
  });

  it("asks for what it needs", async () => {
    expect(await run("proxy-config", "nothing", gateway)).toMatchObject({
      code: 2,
      err: expect.stringContaining("is none of clusters"),
    });
    expect(await run("proxy-config", "clusters")).toMatchObject({
      code: 2,
      err: expect.stringContaining("name a node"),
    });
    expect(await run("proxy-config", "clusters", gateway, "--diff")).toMatchObject({ code: 2 });
    const nobody = await run("proxy-config", "clusters", "--admin", "http://127.0.0.1:9");
    expect(nobody).toMatchObject({ code: 1, err: expect.stringContaining("admin port of an Envoy") });
  });

  it("prints no private key and no password, wherever they stand", () => {
    const inline = { inlineString: "-----BEGIN PRIVATE KEY-----" };
    const resource = {
      commonTlsContext: {
        tlsCertificates: [
          { certificateChain: { filename: "a.pem" }, privateKey: inline, password: { inlineBytes: "AA==" } },
        ],
      },
      sessionTicketKeys: { keys: [inline] },
    };
    const text = JSON.stringify(redacted(resource));
    expect(text).not.toMatch(/PRIVATE KEY|AA==/);
    expect(text).toContain("a.pem");
  });
});

describe("portolan proxy-config of an Envoy that has what this program does not know", () => {
  const typed = (name: string) => `type.googleapis.com/envoy.${name}`;
  const dump = {
    configs: [
      {
        "@type": typed("admin.v3.ClustersConfigDump"),
        dynamic_active_clusters: [
          { version_info: "1", cluster: { "@type": typed("config.cluster.v3.Cluster"), name: "known" } },
          {
            version_info: "1",
            cluster: { "@type": typed("config.cluster.v3.Cluster"), name: "odd", connect_timeout: "soon" },
          },
          { version_info: "1", cluster: { "@type": typed("config.cluster.v9.Cluster"), name: "newer" } },
        ],
      },
      // One that is still being made.
      { "@type": typed("admin.v3.ListenersConfigDump"), dynamic_listeners: [{ name: "later", warming_state: {} }] },
    ],
  };

  it("shows the rest, says what is left out and fails", async () => {
    const admin = createServer((_request, response) => response.end(JSON.stringify(dump)));
    await new Promise<void>((resolve) => admin.listen(0, "127.0.0.1", resolve));
    const address = admin.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const told = await run("proxy-config", "all", "--admin", `http://127.0.0.1:${port}`);
    admin.close();
    expect(told.code).toBe(1);
    expect(told.out).toMatch(/^known /m);
    expect(told.err).toMatch(/clusters "odd" is left out: .*soon/);
    expect(told.err).toMatch(/clusters "newer" is left out: .*v9\.Cluster/);
    expect(told.err).not.toContain("later");
    expect(told.err).toContain(`2 resources of http://127.0.0.1:${port} cannot be read`);
  });
});

describe("portolan proxy-config of a running Envoy", () => {
  let dev: Awaited<ReturnType<typeof startDev>>;
  let envoy: RunningEnvoy;
  let url = "";
  let folder = "";

  beforeAll(async () => {
    // dev keeps its store in the folder.
    folder = await mkdtemp(join(tmpdir(), "portolan-pc-"));
    await cp(samples, folder, { recursive: true });
    dev = await startDev(folder);
    const proxy = proxiesIn(await readFolder(samples)).find((one) => one.proxy.type === "router");
    if (proxy === undefined) throw new Error("the bookshop has a gateway");
    envoy = await startEnvoy(bootstrapFor(proxy, dev.url, 0));
    url = envoy.adminUrl;
    await eventually(
      () => envoy.admin("/config_dump"),
      (text) => text.includes("http.10080") && text.includes("shop.example.com"),
      30_000,
    );
  }, 240_000);
  afterAll(async () => {
    await envoy.stop();
    await dev.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it("shows what runs, and that it is what is compiled", async () => {
    const running = await run("proxy-config", "routes", "--admin", url);
    expect(running.out).toContain("outbound|9080|v1|catalog.bookshop.svc.cluster.local 90");
    const same = await run("proxy-config", "all", gateway, "--admin", url, "--dir", samples, "--diff");
    expect(same.out).toContain("the running configuration equals the compiled one");
    const served = await run("proxy-config", "all", gateway, "--admin", url, "--server", dev.url, "--diff");
    expect(served.out).toContain("the running configuration equals the compiled one");
    // Its next poll says that it has taken what it has.
    await expect
      .poll(async () => (await run("proxy-status", "--server", dev.url)).out, { timeout: 20_000 })
      .toMatch(
        new RegExp(`^${gateway} +Kubernetes +SYNCED +SYNCED +IGNORED +SYNCED +IGNORED +IGNORED +connected +poll$`, "m"),
      );
  }, 120_000);
});
