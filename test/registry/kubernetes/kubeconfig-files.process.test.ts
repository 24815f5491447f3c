import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connectCluster } from "../../../lib/registry/kubernetes/access/connect.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "portolan-kubeconfigs-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function kubeconfig(name: string, context: string): string {
  const path = join(folder, name);
  writeFileSync(
    path,
    JSON.stringify({
      "current-context": context,
      clusters: [{ name: "c", cluster: { server: `https://${context}.example` } }],
      users: [{ name: "u", user: { token: "x" } }],
      contexts: [{ name: context, context: { cluster: "c", user: "u" } }],
    }),
  );
  return path;
}

const contextOf = async (...files: readonly string[]) =>
  (await connectCluster(undefined, files.join(delimiter))).context;

describe("several kubeconfigs", () => {
  it("pass over one that does not exist, as kubectl does", async () => {
    expect(await contextOf(join(folder, "none"), kubeconfig("b", "staging"))).toBe("staging");
  });

  it("never stand in for one that exists and cannot be read", async () => {
    const isFolder = join(folder, "folder");
    mkdirSync(isFolder);
    const isLoop = join(folder, "loop");
    symlinkSync(isLoop, isLoop);
    const belowFile = join(kubeconfig("a", "prod"), "config");
    const next = kubeconfig("b", "staging");
    for (const [unreadable, reason] of [
      [isFolder, "it is a folder, and a file is wanted"],
      [isLoop, "it is a link to itself"],
      [belowFile, "a part of its path is a file, and no folder"],
    ] as const) {
      await expect(contextOf(unreadable, next)).rejects.toThrow(
        `cannot read the kubeconfig ${unreadable}: ${reason}; make it readable, or remove it from KUBECONFIG or --kubeconfig`,
      );
      await expect(contextOf(next, unreadable)).rejects.toThrow("cannot read the kubeconfig");
    }
  });
});
