import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readHead } from "../../../lib/snapshot/head/head.ts";
import { openStore } from "../../../lib/storage/open-store.ts";
import { runPortolan } from "../run-portolan.ts";

it("dev and push of one folder publish one root where their settings are the same", async () => {
  const folder = await mkdtemp(join(tmpdir(), "portolan-same-"));
  const sample = new URL("../../../samples/jwt", import.meta.url).pathname;
  const rootOf = async (store: string, ...line: readonly string[]) => {
    const { code } = await runPortolan(...line, "--store", join(folder, store));
    expect(code).toBe(0);
    return (await readHead(await openStore(join(folder, store), {})))?.head.steps.at(-1)?.root;
  };
  const dev = await rootOf("dev", "dev", sample, "--once");
  expect(dev).toMatch(/^[0-9a-f]{64}$/);
  // A front that holds polls is asked again at once: `dev` has another default than `push`.
  expect(await rootOf("push", "push", sample, "--poll-delay", "100")).toBe(dev);
  expect(await rootOf("usual", "push", sample)).not.toBe(dev);
  await rm(folder, { recursive: true });
});
