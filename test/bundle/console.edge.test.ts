import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { consoleFiles } from "../../gen/console.ts";

/** What a browser loads to show the console, compressed: a ceiling that somebody has to raise on purpose, and never past 150. */
const maxKiB = 40;

it(`the console weighs at most ${maxKiB} KiB`, () => {
  const loaded = consoleFiles.filter(({ path }) => !path.startsWith("/api/"));
  const kib = loaded.reduce((sum, { text }) => sum + gzipSync(text).length, 0) / 1024;
  console.log(`console: ${kib.toFixed(1)} KiB gzip, in ${loaded.length} files`);
  expect(loaded.length).toBe(4);
  expect(kib).toBeGreaterThan(5);
  expect(kib).toBeLessThanOrEqual(maxKiB);
});

it("what follows requests in a browser weighs at most 80 KiB, and is loaded when somebody asks", () => {
  const folder = new URL("../../gen/console/", import.meta.url);
  const names = readdirSync(new URL("console/", folder)).filter((name) => name.startsWith("follow-"));
  expect(names.length).toBe(1);
  const kib = gzipSync(readFileSync(new URL(`console/${names[0]}`, folder))).length / 1024;
  console.log(`follow.js: ${kib.toFixed(1)} KiB gzip`);
  expect(kib).toBeLessThanOrEqual(80);
  const page = readFileSync(new URL("index.html", folder), "utf8");
  expect(page).toContain(`<meta name="follow" content="./console/${names[0]}"`);
  expect(page).not.toContain(`src="./console/${names[0]}"`);
});
