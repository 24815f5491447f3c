import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, relative } from "node:path";
import type { Reporter, TestModule } from "vitest/node";

/** Where the newest time of each test file is kept, across runs; `npm run test:times` reads it. */
const timesFile = new URL("../.cache/test-times.json", import.meta.url).pathname;

/** How long one test file took when it ran last. */
interface FileTime {
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
      // Of another tier it is tried at its full counts, which say nothing of that tier.
      if (process.env.SOAK_SEED !== undefined && module.project.name !== "soak") continue;
      const { collectDuration, duration } = module.diagnostic();
      times[relative(root, module.moduleId)] = {
        tier: module.project.name,
        tests: [...module.children.allTests()].length,
        milliseconds: Math.round(collectDuration + duration),
      };
    }
    mkdirSync(dirname(timesFile), { recursive: true });
    // A run that is killed here leaves the times of before.
    const draft = `${timesFile}.${process.pid}`;
    writeFileSync(draft, JSON.stringify(times));
    renameSync(draft, timesFile);
  }
}
