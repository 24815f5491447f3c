import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runPortolan } from "../run-portolan.ts";

const samples = new URL("../../../samples/bookshop", import.meta.url).pathname;
const gateway = "istio-ingressgateway-1.bookshop";
const bootstrap = (...args: readonly string[]) => runPortolan("bootstrap", "--dir", samples, ...args);

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-bootstrap-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe("portolan bootstrap --out", () => {
  it("writes the bootstrap and the file that leads to its token", async () => {
    const written = await bootstrap(gateway, "--token-file", "/etc/token", "--out", folder);
    expect(written).toEqual({ code: 0, out: "", err: "" });
    expect((await readdir(folder)).sort()).toEqual(["envoy.yaml", "token.sds.yaml"]);
    expect(await readFile(join(folder, "token.sds.yaml"), "utf8")).toContain("filename: /etc/token");
  });

  it.each(["--out", "--token-file", "--at"])(
    "refuses %s without the name of a proxy, lists the names, and writes nothing",
    async (option) => {
      const { code, out, err } = await bootstrap(option, folder);
      expect([code, out]).toEqual([2, ""]);
      expect(err).toContain(
        `${option} needs the name of a proxy, such as \`portolan bootstrap ${gateway} ${option} …\``,
      );
      expect(err).toMatch(new RegExp(`there are: .*${gateway}`));
      expect(await readdir(folder)).toEqual([]);
    },
  );

  it("lists the proxies without a name where nothing is to be written", async () => {
    const { code, out } = await bootstrap();
    expect([code, out]).toEqual([0, expect.stringContaining(`${gateway}\trouter`)]);
  });
});
