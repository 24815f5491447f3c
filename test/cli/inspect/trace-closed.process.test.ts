import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { edgeAndWeb, luaFilter } from "../../compile/edge-and-web.ts";
import { runPortolan } from "../run-portolan.ts";

const folder = mkdtempSync(join(tmpdir(), "portolan-closed-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("trace names the object that is refused and closed, with its file and line", async () => {
  writeFileSync(join(folder, "world.yaml"), edgeAndWeb);
  writeFileSync(join(folder, "filter.yaml"), `# the guard\n${luaFilter("GATEWAY")}`);
  const store = join(folder, ".store");
  await runPortolan("push", folder, "--store", store, "--accept-closed");
  const { out } = await runPortolan("trace", "edge.shop", "http://x.example/", "--store", store);
  expect(out).toContain("→ response 403: denied by EnvoyFilter shop/guard, which is refused and fails closed");
  expect(out).toContain("from filter.yaml:2 (refused, so it fails closed) EnvoyFilter/shop/guard");
  const open = await runPortolan("trace", "web.shop", "http://web/", "--direction", "inbound", "--store", store);
  expect(open.out).not.toContain("403");
});
