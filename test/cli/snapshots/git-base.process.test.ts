import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { filesAtBase } from "../../../lib/cli/snapshots/git-base.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-git-base-"));
  const git = (...args: readonly string[]) => execFileSync("git", ["-C", folder, ...args], { stdio: "pipe" });
  git("init", "--quiet", "--initial-branch", "main");
  await writeFile(join(folder, "a.yaml"), "a: 1\n");
  git("add", ".");
  git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--message", "one");
  await writeFile(join(folder, "a.yaml"), "a: 2\n");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("the files of another commit", () => {
  it("are those of the branch, whatever the working tree has", async () => {
    expect(await filesAtBase(folder, "main")).toMatchObject([{ file: "a.yaml", text: "a: 1\n" }]);
  });

  it("are missed with the command that fetches them", async () => {
    await expect(filesAtBase(folder, "release/1.2")).rejects.toThrow(
      'there is no commit "release/1.2" here; in a shallow clone, `git fetch --depth=1 origin release/1.2` brings it',
    );
  });

  it.each(["--upload-pack=touch pwned", "main; touch pwned", "a\nb", "$(touch pwned)"])(
    "are missed without a command where the name is no name: %j",
    async (base) => {
      await expect(filesAtBase(folder, base)).rejects.toThrow(/^there is no commit ".*" here$/);
    },
  );
});
