import { describe, expect, it } from "vitest";
import { type EnvoyArgument, refuseOwnedArguments, withUsual } from "../../lib/agent/envoy/envoy-arguments.ts";

const usual: readonly EnvoyArgument[] = [["--disable-hot-restart"], ["--drain-time-s", "45"], ["-l", "warning"]];

describe("the arguments of an agent's Envoy", () => {
  it.each([
    { given: [], want: ["--disable-hot-restart", "--drain-time-s", "45", "-l", "warning"] },
    { given: ["-l", "warn"], want: ["--disable-hot-restart", "--drain-time-s", "45", "-l", "warn"] },
    {
      given: ["--log-level", "debug"],
      want: ["--disable-hot-restart", "--drain-time-s", "45", "--log-level", "debug"],
    },
    { given: ["--drain-time-s", "5"], want: ["--disable-hot-restart", "-l", "warning", "--drain-time-s", "5"] },
    { given: ["--disable-hot-restart"], want: ["--drain-time-s", "45", "-l", "warning", "--disable-hot-restart"] },
    {
      given: ["--concurrency", "2"],
      want: ["--disable-hot-restart", "--drain-time-s", "45", "-l", "warning", "--concurrency", "2"],
    },
  ])("are the usual ones but for those that are given: $given", ({ given, want }) => {
    expect(withUsual(usual, given)).toEqual(want);
  });

  it.each([["-c"], ["--config-path"], ["--mode"], ["--admin-address-path"], ["--log-path"], ["--base-id"]])(
    "may not be what the agent goes by: %s",
    (name) => {
      expect(() => refuseOwnedArguments(["--concurrency", "2", name, "x"])).toThrow(
        `the agent sets Envoy's ${name} itself`,
      );
      expect(() => refuseOwnedArguments(["--concurrency", "2"])).not.toThrow();
    },
  );
});
