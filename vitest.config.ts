import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { TimesReporter } from "./test/times-reporter.ts";

/**
 * The tiers, by what a test needs. A file names its tier by its ending: `x.envoy.test.ts`; without one, `x.test.ts`, it is a unit test.
 * CONTRIBUTING.md says when to run which, and test/tiers.test.ts what a unit test may not touch.
 */
const tiers = ["process", "mocked", "main", "envoy", "edge", "servers", "browser", "soak"] as const;

// Workers, and the programs that tests start, load compiled code instead of stripping types again: a command starts in half the time.
process.env.NODE_COMPILE_CACHE ??= new URL(".cache/compiled", import.meta.url).pathname;

/** They take a minute and more, most of it waiting for clocks: begun first, they leave the cores to others, and none is alone at the end. */
const longest = /\/(?:worker-collector\.servers|worker-cost\.edge|worker-end\.edge|fail-closed\.envoy)\.test\.ts$/;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => Number(longest.test(b.moduleId)) - Number(longest.test(a.moduleId)));
  }
}

const endingOf = (tier: string) => `test/**/*.${tier}.test.ts`;

export default defineConfig({
  test: {
    globalSetup: ["test/global-setup.ts"],
    // It ends what hangs, and never measures: a host that is three times as slow as usual fails nothing.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A second, which is usual, is an assertion on time where other work shares the machine.
    expect: { poll: { timeout: 20_000 } },
    retry: 0,
    sequence: { sequencer: LongestFirst },
    reporters: ["default", new TimesReporter()],
    // One more than the two cores: many process tests wait.
    maxWorkers: Number(process.env.TEST_WORKERS ?? 3),
    // Programs print colours under CI, whatever their output is.
    env: { NO_COLOR: "1" },
    // Node itself loads the modules, as it does in production. Generated protobuf code takes most of a load, so workers keep their modules.
    experimental: { viteModuleRunner: false },
    isolate: false,
    projects: [
      {
        extends: true,
        test: { name: "unit", include: ["test/**/*.test.ts"], exclude: tiers.map(endingOf) },
      },
      ...tiers.map((tier) => ({
        extends: true as const,
        // A module is replaced before anything has loaded it, so these files get a worker each.
        test: { name: tier, include: [endingOf(tier)], isolate: tier === "mocked" },
      })),
    ],
  },
});
