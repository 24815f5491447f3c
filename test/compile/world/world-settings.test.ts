import { describe, expect, it } from "vitest";
import { worldFromSettings } from "../../../lib/compile/world/world-settings.ts";

describe("worldFromSettings", () => {
  it.each([
    [{}, { binaryForms: false }],
    [{ BINARY_FORMS: "true" }, { binaryForms: true }],
    [{ CERTIFICATES: "files" }, { certificates: "files" }],
    [{ LEGACY_API: "true" }, { legacyApi: "0.8" }],
    [{ LEGACY_API: "true", LEGACY_RELEASE: "0.7" }, { legacyApi: "0.7" }],
    [{ LEGACY_RELEASE: "0.7" }, { legacyApi: "0.7" }],
  ])("reads %j", (settings, want) => {
    expect(worldFromSettings(settings)).toMatchObject(want);
  });

  it.each([{}, { LEGACY_API: "", LEGACY_RELEASE: "" }, { LEGACY_API: "false", LEGACY_RELEASE: "0.8" }])(
    "makes no answers of the v1 API for %j",
    (settings) => {
      expect(worldFromSettings(settings)).not.toHaveProperty("legacyApi");
    },
  );

  it.each([
    [{ LEGACY_RELEASE: "0.9" }, 'PORTOLAN_LEGACY_RELEASE is "0.9"; it may be 0.7 or 0.8'],
    [{ LEGACY_API: "yes" }, 'PORTOLAN_LEGACY_API is "yes"; it may be true or false'],
    [{ CERTIFICATES: "vault" }, 'PORTOLAN_CERTIFICATES is "vault"; it may be sds or files'],
    [{ BINARY_FORMS: "1" }, 'PORTOLAN_BINARY_FORMS is "1"; it may be true or false'],
  ])("says what is wrong with %j", (settings, message) => {
    expect(() => worldFromSettings(settings, "PORTOLAN_")).toThrow(message);
  });
});
