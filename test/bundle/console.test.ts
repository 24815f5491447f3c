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
