import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { forms } from "../../lib/mesh/forms.ts";

const root = new URL("../../", import.meta.url).pathname;
const sources = readdirSync(join(root, "lib"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => ({ file, text: readFileSync(join(root, "lib", file), "utf8") }));
const rules = Object.keys(forms.istio).sort();

describe("the rules by which forms differ", () => {
  it("are asked for by their names, and nothing else asks which form is meant", () => {
    const asking = sources.filter(({ text }) =>
      /\bcompat\s*[!=]==|[!=]==\s*\w+\.compat\b|switch \(\w*\.?compat\)/.test(text),
    );
    expect(asking.map(({ file }) => file)).toEqual([]);
    const used = rules.filter((rule) => sources.some(({ text }) => text.includes(`form.${rule}`)));
    expect(used).toEqual(rules);
  });

  it("are all as Istio has them in one form, and all otherwise in the other", () => {
    expect(new Set(Object.values(forms.istio))).toEqual(new Set([true]));
    expect(new Set(Object.values(forms.shared))).toEqual(new Set([false]));
    expect(Object.keys(forms.shared).sort()).toEqual(rules);
  });

  it("are described under their names", () => {
    const text = readFileSync(join(root, "docs/differences.md"), "utf8");
    const section = /\n## The shared form\n([\s\S]*?)\n## /.exec(text)?.[1] ?? "";
    const described = [...section.matchAll(/^- (?:\*\([^)]+\)\* )?\*\*`(\w+)`\.\*\*/gm)].map(([, rule]) => rule);
    expect(described.sort()).toEqual(rules);
  });
});
