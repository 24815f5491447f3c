import { describe, expect, it } from "vitest";
import type { AccessLogging } from "../../../lib/config/kinds/telemetry.ts";
import { mergeLogging } from "../../../lib/xds/telemetry/access-logging.ts";

const providers = (...names: string[]) => names.map((name) => ({ name }));

/** What is logged for a side, as `name`, `name:expression` or `-name` for one that is switched off. */
function merged(
  levels: readonly (readonly AccessLogging[])[],
  side: "CLIENT" | "SERVER",
  defaults: readonly string[] = [],
) {
  return [...mergeLogging(levels, defaults, side)]
    .map(([name, { disabled, expression }]) =>
      disabled ? `-${name}` : expression === undefined ? name : `${name}:${expression}`,
    )
    .sort();
}

describe("access logs of several Telemetry objects", () => {
  it("are the default providers' where no object speaks of logs", () => {
    expect(merged([], "CLIENT", ["b", "a"])).toEqual(["a", "b"]);
  });

  it("come from the lowest level that names a provider", () => {
    const levels = [[{ providers: providers("mesh") }], [{ providers: providers("own", "other") }]];
    expect(merged(levels, "CLIENT", ["default"])).toEqual(["other", "own"]);
  });

  it("are switched off by a rule without providers for those of the rule before it", () => {
    expect(merged([[{ providers: providers("a") }], [{ disabled: true }]], "SERVER")).toEqual(["-a"]);
    expect(merged([[{ disabled: true }]], "SERVER", ["default"])).toEqual(["-default"]);
  });

  it("are switched on again by a later rule", () => {
    const levels = [[{ providers: providers("a"), disabled: true }], [{ providers: providers("a") }]];
    expect(merged(levels, "CLIENT")).toEqual(["a"]);
  });

  it("differ between the two sides where a rule says so", () => {
    const levels: AccessLogging[][] = [
      [{ providers: providers("a") }],
      [{ match: { mode: "CLIENT" }, disabled: true }],
    ];
    expect(merged(levels, "CLIENT")).toEqual(["-a"]);
    expect(merged(levels, "SERVER")).toEqual(["a"]);
  });

  it("take the last filter that a rule naming the provider gives", () => {
    const levels = [
      [{ providers: providers("a"), filter: { expression: "x" } }],
      [{ providers: providers("a"), filter: { expression: "y" } }],
    ];
    expect(merged(levels, "CLIENT")).toEqual(["a:y"]);
  });
});
