import { spawnSync } from "node:child_process";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const entry = (name: string): string => fileURLToPath(new URL(`../../functions/${name}`, import.meta.url));

function run(node: string, ...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(node, args, { encoding: "utf8" });
  return { status, stdout, stderr };
}

/** A Node of this machine that is too old, if it has one. */
const oldNode = (process.env.PATH ?? "")
  .split(delimiter)
  .map((folder) => join(folder, "node"))
  .find((path) => /^v(1\d|20|21)\./.test(spawnSync(path, ["--version"], { encoding: "utf8" }).stdout ?? ""));

describe("an entry point", () => {
  it("starts where Node runs TypeScript", () => {
    expect(run(process.execPath, entry("portolan.mjs"), "--version")).toMatchObject({ status: 0, stderr: "" });
  });

  it.each(["portolan.mjs", "server.mjs"])("says what to do where Node does not: %s", (name) => {
    expect(run(process.execPath, "--no-experimental-strip-types", entry(name))).toEqual({
      status: 1,
      stdout: "",
      stderr: `portolan: Node ${process.versions.node} does not run TypeScript here; was it told not to?
  \`npm ci\` has brought a newer one along: \`npm start\`, \`npx portolan\` and \`npm run serve\` use it
`,
    });
  });

  it.skipIf(oldNode === undefined)("is read by a Node that is too old, and names the one that it needs", () => {
    const { status, stderr } = run(oldNode ?? "", entry("server.mjs"));
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /^portolan: needs Node 22\.22 or newer; this is Node \d+\.\d+\.\d+\n {2}`npm ci` has brought/,
    );
  });
});
