import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const root = import.meta.dirname;
const textOf = (file: string) => readFileSync(file, "utf8");
const testFiles = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => join(root, name));
const unitFiles = testFiles.filter((file) => /\/[^./]+\.test\.ts$/.test(file));

/** What makes a test slow, or its outcome a matter of timing, and the tier that is meant for it. */
const outsideOfUnits: readonly (readonly [RegExp, string])[] = [
  [/"node:(?:child_process|worker_threads|cluster)"/, "starts a process or a thread: process"],
  [/\bcreateServer\(|\.listen\(|"node:dgram"|\bserve(?:Http|Grpc|Dns|Status|Local)\w*\(/, "opens a socket: process"],
  [/\bmkdtemp(?:Sync)?\(|\bfileStore\(/, "writes to a disk: process"],
  [/\bsetTimeout\b|"node:timers\/promises"|vi\.waitFor|expect\.poll/, "waits for a real clock: process"],
  [/from "(?:wrangler|miniflare|esbuild)"/, "runs or builds what is deployed: edge"],
  [/from "playwright-core"/, "opens a browser: browser"],
];

/** A file and everything below test/ that it imports, directly or not. */
function withImports(file: string): readonly string[] {
  const seen = new Set([file]);
  // A set that grows is walked to its end.
  for (const one of seen) {
    for (const [, path = ""] of textOf(one).matchAll(/(?:from |import\()"(\.[^"]+\.ts)"/g)) {
      const target = resolve(dirname(one), path);
      if (target.startsWith(`${root}/`) && existsSync(target)) seen.add(target);
    }
  }
  return [...seen];
}

const complaintsAbout = (file: string) =>
  withImports(file).flatMap((one) =>
    outsideOfUnits
      .filter(([pattern]) => one !== import.meta.filename && pattern.test(textOf(one)))
      .map(([, tier]) => `${relative(root, file)}: ${relative(root, one)} ${tier}`),
  );

describe("a test file without a tier in its name", () => {
  it("starts no process, opens no socket, writes to no disk and waits for no clock", () => {
    expect(unitFiles.length).toBeGreaterThan(200);
    expect(unitFiles.flatMap(complaintsAbout)).toEqual([]);
  });

  it("is complained about when it does", () => {
    const guilty = testFiles.find((file) => file.endsWith("e2e/ingress.main.test.ts"));
    expect(guilty === undefined ? [] : complaintsAbout(guilty)).toContainEqual(
      expect.stringContaining("e2e/upstream.ts opens a socket"),
    );
  });
});

describe("a test that replaces a module", () => {
  it("has a worker of its own, by its tier", () => {
    const shared = testFiles.filter((file) => !file.endsWith(".mocked.test.ts") && file !== import.meta.filename);
    expect(shared.filter((file) => textOf(file).includes("vi.mock("))).toEqual([]);
  });
});

describe("a test that is skipped", () => {
  it("prints what it needs: every condition goes through lacks()", () => {
    const silent = testFiles
      .filter((file) => file !== import.meta.filename)
      .flatMap((file) =>
        [
          ...textOf(file).matchAll(/\.(?:runIf|skipIf|skip|todo)\((?!\s*(?:lacks\(|!has(?:ApiServer|Consul)\(\)))/g),
        ].map(({ index }) => `${relative(root, file)}:${textOf(file).slice(0, index).split("\n").length}`),
      );
    expect(silent).toEqual([]);
  });
});

describe("a test that fails", () => {
  it("is not run again", () => {
    const again = testFiles.filter((file) => /\bretry: [1-9]/.test(textOf(file)));
    expect(again.map((file) => relative(root, file))).toEqual([]);
  });
});
