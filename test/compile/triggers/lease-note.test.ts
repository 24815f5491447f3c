import { describe, expect, it } from "vitest";
import { type Diagnostic, fileOrigin, PortolanError } from "../../../lib/base/diagnostic.ts";
import { failedOutcome } from "../../../lib/compile/triggers/lease-note.ts";

describe("what other processes are told of a failure", () => {
  it.each([
    ["letters", "x"],
    ["characters of three bytes", "–"],
  ])("has at most 64 KiB of diagnostics whose messages are %s", (_what, character) => {
    const outcome = failedOutcome(
      new PortolanError(
        "refused",
        [...Array(50).keys()].map((at) => tooLong(at, character)),
      ),
    );
    if (outcome.kind !== "failed") throw new Error("it failed");
    const bytes = Buffer.byteLength(JSON.stringify(outcome.diagnostics));
    expect(bytes).toBeLessThan(66_000);
    expect(bytes).toBeGreaterThan(55_000);
  });
});

const tooLong = (at: number, character: string): Diagnostic => ({
  severity: "error",
  code: "invalid-value",
  origin: fileOrigin(`f${at}.yaml`),
  path: [],
  message: character.repeat(9_000 / Buffer.byteLength(character)),
  hint: "",
});
