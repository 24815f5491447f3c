import picocolors from "picocolors";
import { describe, expect, it } from "vitest";
import { devReport } from "../../../lib/cli/dev/dev-report.ts";

/** The command that is proposed to write a bootstrap. */
function proposed(folder: string | undefined, contexts: readonly string[], origins = contexts.length): string {
  const lines: string[] = [];
  const tell = (line: string) => void lines.push(line);
  const terminal = { out: tell, err: tell, colours: picocolors.createColors(false) };
  const report = devReport(terminal, { what: "cluster prod", folder, contexts, origins, store: "s", json: false });
  const example = { proxy: "gateway-1.shop", bootstrap: "", more: "", needsAgent: false };
  report.serving({ url: "http://127.0.0.1:8080", grpcUrl: undefined }, "off", example);
  return lines.find((line) => line.includes("npx portolan bootstrap"))?.trim() ?? "";
}

describe("what dev proposes", () => {
  it.each([
    { folder: "my-mesh/", contexts: [], names: "--dir my-mesh/" },
    { folder: undefined, contexts: ["prod"], names: "--kube=prod" },
    { folder: undefined, contexts: [""], names: "--kube" },
  ])("looks where the proxies are: $names", ({ folder, contexts, names }) => {
    expect(proposed(folder, contexts)).toBe(
      `npx portolan bootstrap gateway-1.shop ${names} --server http://127.0.0.1:8080 > envoy.yaml`,
    );
  });

  it.each([
    { folder: "my-mesh/", contexts: ["prod"], origins: 1 },
    { folder: undefined, contexts: ["prod", "west"], origins: 2 },
    { folder: undefined, contexts: [], origins: 1 },
  ])("names no place where the proxies may come from another, and says to write down what it prints", (where) => {
    expect(proposed(where.folder, where.contexts, where.origins)).toBe("");
  });
});

describe("what dev says again", () => {
  it("is no failure of which nothing is new", () => {
    const lines: string[] = [];
    const tell = (line: string) => void lines.push(line);
    const terminal = { out: tell, err: tell, colours: picocolors.createColors(false) };
    const report = devReport(terminal, { what: "", folder: "a", contexts: [], origins: 0, store: "s", json: false });
    for (const reason of ["no store", "no store", "no space", "no store"]) report.failed(new Error(reason));
    expect(lines.map((line) => /no \w+/.exec(line)?.[0])).toEqual(["no store", "no space", "no store"]);
  });
});
