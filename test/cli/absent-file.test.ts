import { describe, expect, it } from "vitest";
import { PortolanError } from "../../lib/base/diagnostic.ts";
import { whereAbsent } from "../../lib/cli/absent-file.ts";

const failing = (code: string) => Promise.reject<string>(Object.assign(new Error(`${code}: failed`), { code }));

describe("a file that may be absent", () => {
  it.each(["ENOENT", "ENOTDIR"])("counts as absent where there is none: %s", async (code) => {
    expect(await failing(code).catch(whereAbsent("settings.json", "none"))).toBe("none");
  });

  it.each(["EACCES", "EIO", "EISDIR", "ELOOP", "EMFILE"])(
    "is an error where it is there and cannot be read: %s",
    async (code) => {
      const told = failing(code).catch(whereAbsent("settings.json", "none"));
      await expect(told).rejects.toThrow(PortolanError);
      await expect(told).rejects.toThrow("cannot read settings.json");
    },
  );
});
