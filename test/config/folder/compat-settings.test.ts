import { describe, expect, it } from "vitest";
import { readFolderSettings } from "../../../lib/config/folder/read-folder-settings.ts";

const read = (text: string) => readFolderSettings(text, "portolan.yaml");

describe("compat of a folder's settings", () => {
  it("is a release and switches", () => {
    const { value, diagnostics } = read(
      'compat: {release: "1.31", switches: {PILOT_AUTO_SEND_UNHEALTHY_ENDPOINTS: "false"}}\n',
    );
    expect(diagnostics).toEqual([]);
    expect(value.compat).toEqual({ release: "1.31", switches: { PILOT_AUTO_SEND_UNHEALTHY_ENDPOINTS: false } });
  });

  it("says of a release without quotes how it is written", () => {
    const { value, diagnostics } = read("compat:\n  release: 1.30\n");
    expect(value.compat).toBeUndefined();
    expect(diagnostics).toMatchObject([
      { severity: "error", origin: { line: 2 }, hint: 'write it in quotes: release: "1.30"' },
    ]);
  });

  it("counts although a switch in it is not known, which a warning names", () => {
    const { value, diagnostics } = read('compat:\n  release: "1.30"\n  switches:\n    PILOT_ENABLE_MAGIC: "true"\n');
    expect(value.compat).toEqual({ release: "1.30", switches: {} });
    expect(diagnostics).toMatchObject([{ severity: "warning", code: "no-effect", origin: { line: 4 } }]);
  });
});
