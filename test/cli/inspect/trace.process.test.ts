import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runPortolan as run } from "../run-portolan.ts";

const samples = new URL("../../../samples/bookshop", import.meta.url).pathname;
let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-trace-"));
  await cp(samples, join(folder, "mesh"), { recursive: true });
  await run("push", join(folder, "mesh"), "--store", join(folder, "store"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** 1-based line of a text in a file of the mesh. */
async function lineOf(file: string, text: string): Promise<number> {
  const lines = (await readFile(join(samples, file), "utf8")).split("\n");
  return lines.findIndex((line) => line.includes(text)) + 1;
}

const shop = "http://shop.example.com:10080";

describe("portolan trace", () => {
  it.each(["--dir", "--store"])(
    "leads through a gateway to endpoints, with file and line of each rule (%s)",
    async (where) => {
      const place = where === "--dir" ? samples : join(folder, "store");
      const { code, out } = await run("trace", "istio-ingressgateway-1.bookshop", `${shop}/catalog/7`, where, place);
      expect(code).toBe(0);
      expect(out).toContain("listener 0.0.0.0_10080");
      expect(out).toContain(`from catalog.yaml:${await lineOf("catalog.yaml", "- uri:")}`);
      expect(out).toContain("90 % of them");
      expect(out).toContain("→ 127.0.0.12:9080 (100 %");
    },
  );

  it("leads a request to a gateway's public port through its Service, and one to the workload's own port not", async () => {
    const ask = async (port: string, ...more: readonly string[]) =>
      (
        await run(
          "trace",
          "istio-ingressgateway-1.bookshop",
          `http://shop.example.com${port}/catalog/7`,
          "--dir",
          samples,
          ...more,
        )
      ).out;
    const led = await ask("");
    expect(led).toContain("service Service/bookshop/istio-ingressgateway: its port 80 leads to 10080 of the workload");
    expect(led).toContain("listener 0.0.0.0_10080");
    expect(await ask(":10080")).not.toContain("service Service/");
    expect(await ask("", "--port", "80")).toContain("no listener is bound to");
    const { service } = JSON.parse(await ask(":80", "--json"));
    expect(service).toMatchObject({ port: 80, targetPort: 10080, at: expect.stringMatching(/^gateway\.yaml:\d+$/) });
  });

  it("follows a workload's own requests through its sidecar, by the address of the service", async () => {
    const { out } = await run("trace", "storefront-1.bookshop", "http://reviews:9080/", "--dir", samples, "--json");
    const told: { readonly request: object; readonly ways: readonly object[] } = JSON.parse(out);
    expect(told.request).toMatchObject({ direction: "outbound", destination: { port: 9080 } });
    expect(told.ways).toMatchObject([
      { end: { kind: "endpoints", cluster: expect.stringContaining("reviews.bookshop") } },
    ]);
  });

  it("says what a request is answered with that no route takes", async () => {
    const { code, out } = await run("trace", "istio-ingressgateway-1.bookshop", `${shop}/nowhere`, "--dir", samples);
    expect(code).toBe(0);
    expect(out).toContain("→ response 404: no route fits");
    expect(out).toContain('not reviews (route 1): path does not begin with "/reviews"');
  });

  it("asks for a node and a URL that there are", async () => {
    const nobody = await run("trace", "nobody.bookshop", shop, "--dir", samples);
    expect([nobody.code, nobody.err]).toEqual([1, expect.stringContaining('there is no node "nobody.bookshop"')]);
    const none = await run("trace", "storefront-1.bookshop", "reviews:9080", "--dir", samples);
    expect([none.code, none.err]).toEqual([1, expect.stringContaining("is no URL")]);
    const header = await run("trace", "storefront-1.bookshop", shop, "--header", "nothing", "--dir", samples);
    expect([header.code, header.err]).toEqual([2, expect.stringContaining("name: value")]);
  });
});
