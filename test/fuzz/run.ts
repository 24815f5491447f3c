import { parseArgs } from "node:util";
import { newCoverage } from "./edits/coverage.ts";
import { gatherMaterials } from "./edits/materials.ts";
import { coverageText, failureText, neverEdited } from "./edits/report.ts";
import { checkSequence } from "./edits/sequence.ts";
import { judge, shrink, textOf } from "./judge.ts";
import { randomSource } from "./objects/random-source.ts";

const { values } = parseArgs({
  options: {
    worlds: { type: "string", default: "1000" },
    edits: { type: "string" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    "keep-whole": { type: "boolean", default: false },
  },
});
const first = Number(values.seed);
const failed = values.edits === undefined ? judgeWorlds(Number(values.worlds)) : checkEdits(Number(values.edits));
console.log(failed === 0 ? "no failure" : `\n${failed} failures`);
process.exitCode = failed === 0 ? 0 : 1;

/** Random worlds, each by itself. */
function judgeWorlds(count: number): number {
  const batch = 20;
  let found = 0;
  console.log(`${count} random worlds from seed ${first} on`);
  for (let seed = first; seed < first + count; seed += batch) {
    const size = Math.min(batch, first + count - seed);
    for (const failure of judge(Array.from({ length: size }, (_, index) => seed + index))) {
      found++;
      console.log(`\nseed ${failure.seed}:\n  ${failure.findings.slice(0, 5).join("\n  ")}`);
      if (!values["keep-whole"] && found <= 3) console.log(textOf(shrink(randomSource(failure.seed))));
    }
  }
  return found;
}

/** Worlds that change, a warm compiler against a fresh one; with enough edits, no field may be left out. */
function checkEdits(count: number): number {
  const steps = 80;
  const enough = 40_000;
  const materials = gatherMaterials(60);
  const coverage = newCoverage();
  let found = 0;
  console.log(`${count} edits from seed ${first} on`);
  for (let done = 0; done < count; done += steps) {
    const seed = first + done / steps;
    for (const failure of checkSequence(seed, Math.min(steps, count - done), materials, coverage)) {
      found++;
      console.log(
        values["keep-whole"] || found > 3 ? `\nseed ${seed}: ${failure.findings[0]}` : `\n${failureText(failure)}`,
      );
    }
  }
  console.log(coverageText(coverage).join("\n"));
  const left = neverEdited(coverage);
  if (count < enough) return found;
  for (const place of left) console.log(`never edited: ${place}`);
  return found + left.length;
}
