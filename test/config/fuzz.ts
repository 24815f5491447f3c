/**
 * Feeds the parser and the reader mutated and invented texts for as long as it is told, and reports what throws:
 * `node test/config/fuzz.ts [seconds] [seed]`. What it found is kept as cases in `parse.test.ts` and `read-config.test.ts`.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readFiles } from "../../lib/config/folder/directory.ts";
import { casesOf } from "../conformance/suites.ts";

const seconds = Number(process.argv[2] ?? 10);
let state = Number(process.argv[3] ?? 1);

/** A small generator with a seed, so that a finding can be had again. */
function random(below: number): number {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state % below;
}

const pick = <T>(list: readonly T[], fallback: T): T => list[random(list.length)] ?? fallback;

const corpus = casesOf("v3")
  .map(({ path }) => readFileSync(join(path, "input.yaml"), "utf8"))
  .flatMap((text) => text.split("\n---\n"));

const fragments = [
  "---",
  "...",
  "%YAML 1.1",
  "&a",
  "*a",
  "<<: *a",
  "!!binary x",
  "!x",
  "? ",
  ": ",
  "- ",
  "|",
  ">-",
  "{",
  "}",
  "[",
  "]",
  "'",
  '"',
  "#",
  "\t",
  "\r",
  "\u0000",
  "\ud800",
  "\ufeff",
  "null",
  "~",
  "1e400",
  "-0",
  "0x1",
  "999999999999999999999",
  ".nan",
  "true",
  "__proto__: {a: 1}",
  "constructor:",
  "toString: 1",
  "kind: List",
  "items: [null]",
  "metadata: null",
  "name: 5",
  "spec: []",
  "spec: null",
  "hosts: {}",
  "http: 3",
  "timeout: -1s",
  "regex: '(?<a'",
  "port: {}",
];

function mutate(text: string): string {
  const at = random(text.length + 1);
  const end = Math.min(text.length, at + random(30));
  switch (random(6)) {
    case 0:
      return text.slice(0, at) + text.slice(end);
    case 1:
      return text.slice(0, at) + pick(fragments, "") + text.slice(at);
    case 2:
      return text.slice(0, at) + String.fromCharCode(random(0x10000)) + text.slice(end);
    case 3:
      return `${text}\n${pick(fragments, "")}\n${text.slice(at)}`;
    case 4: {
      const other = pick(corpus, "");
      return text.slice(0, at) + other.slice(random(other.length + 1));
    }
    default:
      return text.slice(0, at) + text.slice(at, end).repeat(random(4)) + text.slice(end);
  }
}

const until = Date.now() + seconds * 1000;
let runs = 0;
let findings = 0;
while (Date.now() < until && findings < 20) {
  let text = pick(corpus, "");
  for (let step = random(6); step >= 0; step--) text = mutate(text);
  const file = pick(["a.yaml", "mesh.yaml", "networks.yaml"], "a.yaml");
  const started = performance.now();
  try {
    readFiles([{ file, text }]);
    const tookMs = performance.now() - started;
    if (tookMs > 2000) throw new Error(`took ${tookMs.toFixed(0)} ms`);
  } catch (error) {
    findings++;
    console.log(`run ${runs} of ${file}: ${error instanceof Error ? error.stack : String(error)}`);
    console.log(JSON.stringify(text));
  }
  runs++;
}
console.log(`${runs} texts in ${seconds} s, ${findings} findings`);
process.exitCode = findings === 0 ? 0 : 1;
