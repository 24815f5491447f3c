import picocolors from "picocolors";
import { describe, expect, it } from "vitest";
import { devReport } from "../../../lib/cli/dev/dev-report.ts";

/** The command that is proposed to write a bootstrap. */
function proposed(folder: string | undefined, contexts: readonly string[]): string {
  const lines: string[] = [];
  const tell = (line: string) => void lines.push(line);
  const terminal = { out: tell, err: tell, colours: picocolors.createColors(false) };
  const report = devReport(terminal, { what: "cluster prod", folder, contexts, store: "s", json: false });
  const example = { proxy: "gateway-1.shop", bootstrap: "", more: "", needsAgent: false };
  report.serving({ url: "http://127.0.0.1:8080", grpcUrl: undefined }, "off", example);
  return lines.find((line) => line.includes("npx portolan bootstrap"))?.trim() ?? "";
}

describe("what dev proposes", () => {
  it.each([
    { folder: "my-mesh/", contexts: [], names: "--dir my-mesh/" },
    { folder: "my-mesh/", contexts: ["prod"], names: "--dir my-mesh/" },
    { folder: undefined, contexts: ["prod", "west"], names: "--kube=prod" },
    { folder: undefined, contexts: [""], names: "--kube" },
  ])("looks where the proxies are: $names", ({ folder, contexts, names }) => {
    expect(proposed(folder, contexts)).toBe(
      `npx portolan bootstrap gateway-1.shop ${names} --server http://127.0.0.1:8080 > envoy.yaml`,
    );
  });
});
