import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { holdsSomething, namedStore } from "../../lib/cli/named-store.ts";
import { proxyOfThisPod } from "../../lib/cli/proxy/bootstrap-node.ts";
import { readKeyring, trustOf } from "../../lib/cli/secrets/keyring.ts";

const here = process.cwd();
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "portolan-unreadable-"));
  process.chdir(folder);
});
afterEach(() => {
  process.chdir(here);
  rmSync(folder, { recursive: true });
});

/** A name at which every call fails, and not because nothing is there. */
function loop(name: string): string {
  const path = join(folder, name);
  symlinkSync(path, path);
  return path;
}

describe("a file that exists and cannot be read", () => {
  it("is not taken for absent settings, which would mean the default store", async () => {
    expect(await namedStore(undefined)).toBeUndefined();
    mkdirSync(".portolan/settings.json", { recursive: true });
    await expect(namedStore(undefined)).rejects.toThrow(
      "cannot read .portolan/settings.json: it is a folder, and a file is wanted; make it readable, or name the store with --store",
    );
    expect(await namedStore("elsewhere")).toBe("elsewhere");
  });

  it("is not taken for an empty store", async () => {
    expect(await holdsSomething(join(folder, "none"))).toBe(false);
    writeFileSync("file", "");
    expect(await holdsSomething("file")).toBe(false);
    await expect(holdsSomething(loop("store"))).rejects.toThrow("cannot read the folder");
  });

  it("is not taken for a keyring without keys, which would write HEAD unsigned and read it unchecked", async () => {
    expect(await trustOf(join(folder, "none"))).toEqual({});
    const file = loop("keys.json");
    await expect(readKeyring(file)).rejects.toThrow(`cannot read the keyring ${file}: it is a link to itself`);
    await expect(trustOf(file)).rejects.toThrow("cannot read the keyring");
  });

  it("is not taken for a pod without labels, which no policy would select", async () => {
    const environment = { POD_NAME: "a", POD_NAMESPACE: "shop" };
    await expect(proxyOfThisPod(environment, "sidecar", folder)).resolves.toBeDefined();
    loop("labels");
    await expect(proxyOfThisPod(environment, "sidecar", folder)).rejects.toThrow(
      `cannot read ${join(folder, "labels")}: it is a link to itself`,
    );
  });
});
