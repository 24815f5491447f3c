import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { anchorOf } from "../../site/heading-anchor.ts";
import { citationsOfCode, complaint, linksOfPages, pagesNamedInPassing, pagesUnder } from "./citations.ts";

const facts = "docs/how-istio-does-it";
const at = (target: string) => ({ file: "lib/a.ts", line: 1, target });

describe("the citations", () => {
  const inCode = citationsOfCode();
  const inPages = linksOfPages();

  it("of the code lead to a page and a heading, to a source with its release, or to an address", () => {
    expect(inCode.length).toBeGreaterThan(250);
    expect(inCode.map(complaint).filter((line) => line !== undefined)).toEqual([]);
  });

  it("of pages lead to pages and headings that are there", () => {
    expect(inPages.length).toBeGreaterThan(50);
    expect([...inPages, ...pagesNamedInPassing()].map(complaint).filter((line) => line !== undefined)).toEqual([]);
  });

  it("reach every page about Istio", () => {
    const cited = new Set([...inCode, ...inPages].map(({ target }) => target.split("#")[0]));
    expect(pagesUnder(facts).filter((page) => !cited.has(page))).toEqual([]);
  });

  it("find on every page about Istio the release that its facts were read from", () => {
    const nameless = pagesUnder(facts).filter((page) => {
      const text = readFileSync(resolve(import.meta.dirname, "../..", page), "utf8");
      return !/(?:Read from|taken from|Measured with)[^#]*\b\d+\.\d+\.\d+\b/.test(text) && !page.endsWith("README.md");
    });
    expect(nameless).toEqual([]);
  });

  it("are refused when they lead nowhere", () => {
    expect(complaint(at("model-push 6.3"))).toContain("neither a page, nor a source, nor an address");
    expect(complaint(at("docs/no-such-page.md"))).toContain("neither a page");
    expect(complaint(at(`${facts}/names.md#no-such-heading`))).toContain("has no such heading");
    expect(complaint(at("Istio 1.30 `pilot/pkg/model/gateway.go`"))).toContain("neither a page");
    expect(complaint(at("istio 1.30.3 pilot/pkg/model/gateway.go, mergeGateways"))).toBeUndefined();
  });
});

describe("anchorOf", () => {
  it.each([
    { heading: "Hosts of a sidecar's table", want: "hosts-of-a-sidecars-table" },
    { heading: "AUTO_PASSTHROUGH", want: "auto_passthrough" },
    { heading: "`IST0101`", want: "ist0101" },
    {
      heading: "Proxy classes: compile once for all that are alike",
      want: "proxy-classes-compile-once-for-all-that-are-alike",
    },
  ])("makes $want", ({ heading, want }) => {
    expect(anchorOf(heading)).toBe(want);
  });
});
