import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/global-setup.ts"],
    testTimeout: 30_000,
    hookTimeout: 120_000,
    // Where CI is set, programs print colours whatever their output is.
    env: { NO_COLOR: "1" },
    // What is built for Lambda is loaded by Node as it is: looking through it, vitest takes some minified patterns for divisions.
    server: { deps: { external: [/\/portolan-lambda-/] } },
    // Real Envoys, stores and kills share a machine with whoever else builds on it: what fails there has to fail three times.
    retry: process.env.CI === undefined ? 0 : 2,
  },
});
