import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const folder = new URL("../../lib/front", import.meta.url).pathname;

/** Where a whole front is made, and where it is put together to an app. */
const whole = new Set(["front.ts", "app.ts"]);

it("no function of the front takes all of it: each names the few things that it uses", () => {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  const taking = files.filter((name) => /: Front\b(?!\[)/.test(readFileSync(join(folder, name), "utf8")));
  expect(taking.toSorted()).toEqual([...whole].toSorted());
});
