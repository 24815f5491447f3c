import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFolderReader } from "../../../lib/config/folder/folder-reader.ts";
import { rule } from "./folders.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-reader-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const [a, b] = [rule("a", "a.example"), rule("b", "b.example")];
const both = `${a}---\n${b}`;
const save = (file: string, text: string) => writeFile(join(folder, file), text);

/** A reader of the folder, in whose pauses something is saved. @returns with what it reads, and how often it has paused */
function reader(next: () => Promise<unknown> = async () => {}) {
  let pauses = 0;
  const read = createFolderReader(folder, () => {
    pauses += 1;
    return next();
  });
  return async () => {
    const files = await read();
    return { pauses, texts: Object.fromEntries(files.map(({ file, text }) => [file, text])) };
  };
}

describe("a reader of a folder", () => {
  it("takes an object that is cut from one file and pasted into another for moved, and a folder that is rewritten for what it is then", async () => {
    await save("a.yaml", both);
    const read = reader(() => save("b.yaml", b));
    await read();
    await save("a.yaml", a);
    expect(await read()).toEqual({ pauses: 1, texts: { "a.yaml": a, "b.yaml": b } });
    await rm(join(folder, "a.yaml"));
    const again = reader(() => save("c.yaml", a));
    await save("c.yaml", a);
    await again();
    await rm(join(folder, "c.yaml"));
    expect(await again()).toEqual({ pauses: 1, texts: { "b.yaml": b, "c.yaml": a } });
  });

  it("waits once for what is deleted", async () => {
    await save("a.yaml", both);
    const read = reader();
    await read();
    await save("a.yaml", a);
    expect(await read()).toEqual({ pauses: 1, texts: { "a.yaml": a } });
    expect(await read()).toEqual({ pauses: 1, texts: { "a.yaml": a } });
  });

  it("waits for what is moved although something else is refused, in the same file or in another one", async () => {
    const refused = rule("c", "c.example").replace("host:", "hots:");
    await save("a.yaml", `${both}---\n${refused}`);
    await save("z.yaml", a.replace("name: a", "name: z"));
    const read = reader(() => save("b.yaml", b));
    await read();
    await save("a.yaml", `${a}---\n${refused}`);
    await save("z.yaml", refused);
    expect(await read()).toMatchObject({ pauses: 1, texts: { "b.yaml": b } });
  });

  it("does not wait where nothing is gone, or what is refused or cannot be read is served on", async () => {
    await save("a.yaml", both);
    const read = reader();
    for (const text of [both.replace("b.example", "b"), both.replace("host: b.example", "hots: b"), "[", both]) {
      await save("a.yaml", text);
      await read();
    }
    await rename(join(folder, "a.yaml"), join(folder, "b.yaml"));
    expect(await read()).toEqual({ pauses: 0, texts: { "b.yaml": both } });
  });
});
