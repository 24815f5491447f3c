import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Diagnostic, fileOrigin } from "../../../lib/base/diagnostic.ts";
import { namedHere } from "../../../lib/cli/config/located-messages.ts";
import { noteDevStore } from "../../../lib/cli/dev-stores.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-named-"));
});
afterAll(() => rm(folder, { recursive: true }));

const about = (file: string): Diagnostic => ({
  code: "unknown-field",
  severity: "error",
  origin: fileOrigin(file, 1),
  path: [],
  message: "",
  hint: "",
});
const named = async (store: string, ...files: readonly string[]) =>
  (await namedHere(store, files.map(about))).map(({ origin }) => origin.file);

it("names the files of a followed folder from the working directory, and no others", async () => {
  await writeFile(join(folder, "a.yaml"), "");
  const store = join(folder, "dev-1");
  await (await noteDevStore(store, { what: folder, folder }))();
  const here = relative(process.cwd(), join(folder, "a.yaml"));
  expect(await named(store, "a.yaml", "gone.yaml", "")).toEqual([here, "gone.yaml", ""]);
});

it("leaves the names of other stores as they are", async () => {
  expect(await named(join(folder, "plain"), "a.yaml")).toEqual(["a.yaml"]);
  expect(await named("s3://mesh/prod", "a.yaml")).toEqual(["a.yaml"]);
});
