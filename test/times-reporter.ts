import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, relative } from "node:path";
import type { Reporter, TestModule } from "vitest/node";

/** Where the newest time of each test file is kept, across runs; `npm run test:times` reads it. */
export const timesFile = new URL("../.cache/test-times.json", import.meta.url).pathname;

/** How long one test file took when it ran last. */
export interface FileTime {
  readonly tier: string;
  readonly tests: number;
  /** Of its tests and hooks, and of loading it. */
  readonly milliseconds: number;
}

/** By path below the repository's root. @throws SyntaxError where the file is damaged */
export function readTimes(): Readonly<Record<string, FileTime>> {
  try {
    return JSON.parse(readFileSync(timesFile, "utf8"));
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return {};
    throw cause;
  }
}

/** Keeps the time of each test file that ran; those that did not run keep theirs. */
export class TimesReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const root = new URL("..", import.meta.url).pathname;
    const times: Record<string, FileTime> = { ...readTimes() };
    for (const module of modules) {
      const { collectDuration, duration } = module.diagnostic();
      times[relative(root, module.moduleId)] = {
        tier: module.project.name,
        tests: [...module.children.allTests()].length,
        milliseconds: Math.round(collectDuration + duration),
      };
    }
    mkdirSync(dirname(timesFile), { recursive: true });
    writeFileSync(timesFile, JSON.stringify(times));
  }
}
