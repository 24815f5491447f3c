/** `npm run test:times`: the slowest test files of the newest runs, and what each tier takes. */
import { existsSync } from "node:fs";
import Table from "cli-table3";
import { readTimes } from "./times-reporter.ts";

const slowestShown = 30;
const seconds = (milliseconds: number) => (milliseconds / 1_000).toFixed(1);
const plain = { style: { head: [], border: [] } };

const times = Object.entries(readTimes())
  .filter(([file]) => existsSync(file))
  .map(([file, time]) => ({ file, ...time }))
  .sort((a, b) => b.milliseconds - a.milliseconds);

const slowest = new Table({ head: ["seconds", "tier", "tests", "file"], colAligns: ["right"], ...plain });
for (const { file, tier, tests, milliseconds } of times.slice(0, slowestShown))
  slowest.push([seconds(milliseconds), tier, tests, file]);
console.log(slowest.toString());

const tiers = new Table({
  head: ["tier", "files", "tests", "seconds on one worker"],
  colAligns: ["left", "right", "right", "right"],
  ...plain,
});
for (const [tier, files = []] of Object.entries(Object.groupBy(times, ({ tier }) => tier))) {
  const sum = (of: (time: (typeof files)[number]) => number) => files.reduce((total, time) => total + of(time), 0);
  tiers.push([tier, files.length, sum(({ tests }) => tests), seconds(sum(({ milliseconds }) => milliseconds))]);
}
console.log(tiers.toString());
if (times.length === 0) console.log("no times yet: run npm test first");
