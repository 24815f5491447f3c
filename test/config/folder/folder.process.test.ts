import { execFile } from "node:child_process";
import { appendFile, chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readFolder } from "../../../lib/config/folder/folder.ts";
import { lacks } from "../../skip.ts";
import { envelope } from "../a-config.ts";

const rule = (name: string) => `${envelope("DestinationRule", name)}spec: {host: ${name}}\n`;
let root = "";

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "portolan-folder-"));
});

afterEach(async () => {
  await rm(root, { recursive: true });
});

/** Saves as an editor does that is in no hurry: one half, a pause, the other half. */
async function saveInSteps(file: string, text: string): Promise<void> {
  const half = Math.floor(text.length / 2);
  await writeFile(join(root, file), text.slice(0, half));
  await sleep(5);
  await appendFile(join(root, file), text.slice(half));
}

describe("readFolder", () => {
  it("takes the YAML and JSON files at any depth by path, and no hidden ones", async () => {
    await mkdir(join(root, "sub"));
    await mkdir(join(root, ".git"));
    for (const file of [
      "b.yml",
      "a.yaml",
      "sub/c.yaml",
      "sub/d.json",
      "sub/e.YAML",
      "notes.md",
      ".hidden.yaml",
      ".git/d.yaml",
    ])
      await writeFile(join(root, file), file);
    const files = await readFolder(root);
    expect(files).toEqual(
      ["a.yaml", "b.yml", "sub/c.yaml", "sub/d.json", "sub/e.YAML"].map((file) => ({ file, text: file })),
    );
  });

  it("takes nothing of packages that lie below, and all of a folder that lies in one", async () => {
    const sample = join(root, "node_modules", "portolan", "samples");
    await mkdir(sample, { recursive: true });
    for (const file of ["a.yaml", "node_modules/portolan/package.json", "node_modules/portolan/samples/b.yaml"])
      await writeFile(join(root, file), file);
    expect((await readFolder(root)).map(({ file }) => file)).toEqual(["a.yaml"]);
    expect((await readFolder(sample)).map(({ file }) => file)).toEqual(["b.yaml"]);
  });

  it("waits for a file that is being written", async () => {
    const saved = saveInSteps("a.yaml", rule("a"));
    await expect.poll(() => readFolder(root), { interval: 1 }).not.toEqual([]);
    expect(await readFolder(root)).toEqual([{ file: "a.yaml", text: rule("a") }]);
    await saved;
  });

  it("reads all other files where one is a pipe, a link to nothing, or a folder", async () => {
    await writeFile(join(root, "a.yaml"), rule("a"));
    await promisify(execFile)("mkfifo", [join(root, "pipe.yaml")]);
    await symlink(join(root, "gone"), join(root, "link.yaml"));
    await symlink(join(root, "linked.yaml"), join(root, "linked.yaml"));
    await symlink(root, join(root, "round.yaml"));
    await symlink(join(root, "a.yaml"), join(root, "same.yaml"));
    expect(await readFolder(root)).toEqual([
      { file: "a.yaml", text: rule("a") },
      { file: "link.yaml", text: "", problem: "it is a link to nothing" },
      { file: "linked.yaml", text: "", problem: "it is a link to itself" },
      { file: "pipe.yaml", text: "", problem: "it is no file, but a pipe, a socket, a device or a folder" },
      { file: "round.yaml", text: "", problem: "it is no file, but a pipe, a socket, a device or a folder" },
      { file: "same.yaml", text: rule("a") },
    ]);
  });

  it("reads no file outside of the folder, whatever link leads there", async () => {
    const folder = join(root, "mesh");
    await mkdir(join(folder, "sub"), { recursive: true });
    await mkdir(join(root, "mesh-of-others"));
    for (const file of ["kubeconfig", "mesh-of-others/a.yaml"]) await writeFile(join(root, file), "token: secret\n");
    await symlink(join(root, "kubeconfig"), join(folder, "absolute.yaml"));
    await symlink("../../kubeconfig", join(folder, "sub/relative.yaml"));
    await symlink("sub/relative.yaml", join(folder, "by-another.json"));
    await symlink("../mesh-of-others/a.yaml", join(folder, "sibling.yaml"));
    await symlink("/proc/self/environ", join(folder, "portolan.yaml"));
    const problem = "it is a link to a file outside of the folder: put a copy of that file in its place";
    const refused = ["absolute.yaml", "by-another.json", "portolan.yaml", "sibling.yaml", "sub/relative.yaml"];
    expect(await readFolder(folder)).toEqual(refused.map((file) => ({ file, text: "", problem })));
  });

  it("reads a folder that is a link, and one that Kubernetes mounts of a ConfigMap", async () => {
    const mounted = join(root, "mounted");
    await mkdir(join(mounted, "..2024_06_01"), { recursive: true });
    await writeFile(join(mounted, "..2024_06_01/a.yaml"), rule("a"));
    await symlink("..2024_06_01", join(mounted, "..data"));
    await symlink("..data/a.yaml", join(mounted, "a.yaml"));
    await symlink("mounted", join(root, "current"));
    expect(await readFolder(join(root, "current"))).toEqual([{ file: "a.yaml", text: rule("a") }]);
  });

  it.skipIf(lacks(process.getuid?.() !== 0, "a user who may not read every file; this one is root"))(
    "says which file and which folder may not be read",
    async () => {
      await mkdir(join(root, "closed"));
      await writeFile(join(root, "a.yaml"), rule("a"));
      await writeFile(join(root, "secret.yaml"), rule("b"), { mode: 0 });
      await chmod(join(root, "closed"), 0);
      const files = await readFolder(root);
      await chmod(join(root, "closed"), 0o700);
      expect(files.map(({ file, problem }) => `${file} ${problem}`)).toEqual([
        "a.yaml undefined",
        "closed/ permission denied",
        "secret.yaml permission denied",
      ]);
    },
  );

  it("says which folder is not there", async () => {
    await expect(readFolder(join(root, "none"))).rejects.toThrow("cannot read the folder");
    await writeFile(join(root, "a.yaml"), rule("a"));
    await expect(readFolder(join(root, "a.yaml"))).rejects.toThrow("it is a file; name the folder that it is in");
  });
});
