import { parseArgs } from "node:util";
import { judge, shrink, textOf } from "./judge.ts";
import { randomSource } from "./objects/random-source.ts";

const { values } = parseArgs({
  options: {
    worlds: { type: "string", default: "1000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    "keep-whole": { type: "boolean", default: false },
  },
});
const count = Number(values.worlds);
const first = Number(values.seed);
const batch = 20;
let failed = 0;

console.log(`${count} random worlds from seed ${first} on`);
for (let seed = first; seed < first + count; seed += batch) {
  const size = Math.min(batch, first + count - seed);
  for (const failure of judge(Array.from({ length: size }, (_, index) => seed + index))) {
    failed++;
    console.log(`\nseed ${failure.seed}:\n  ${failure.findings.slice(0, 5).join("\n  ")}`);
    if (!values["keep-whole"] && failed <= 3) console.log(textOf(shrink(randomSource(failure.seed))));
  }
}
console.log(failed === 0 ? "no failure" : `\n${failed} failures`);
process.exitCode = failed === 0 ? 0 : 1;
