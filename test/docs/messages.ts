import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseAst } from "vitest/node";
import { bannedWords } from "./prose.ts";

const root = resolve(import.meta.dirname, "../..");

/** Every text of several words that code may print, log, answer or show: help, diagnostics, errors, labels of the console. */
export function messagesOfCode(): readonly { readonly where: string; readonly text: string }[] {
  const files = globSync(["lib/**/*.{ts,tsx}", "functions/*.ts"], { cwd: root }).sort();
  return files.flatMap((file) => {
    const code = readFileSync(join(root, file), "utf8");
    const tree = parseAst(code, { lang: file.endsWith("tsx") ? "tsx" : "ts" });
    return [...textsIn(tree)].map(({ at, text }) => ({
      where: `${file}:${code.slice(0, at).split("\n").length}`,
      text,
    }));
  });
}

/** Words in it that the writing standard replaces; headings of pages that it links to do not count. */
export const bannedIn = (text: string): readonly string[] =>
  [...text.replaceAll(/docs\/\S+/g, "").matchAll(bannedWords)].map(([word]) => word);

function* textsIn(value: unknown): Generator<{ readonly at: number; readonly text: string }> {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (const inner of value) yield* textsIn(inner);
    return;
  }
  const text = textOf(value);
  if (text !== undefined && /\s/.test(text.trim()) && "start" in value && typeof value.start === "number")
    yield { at: value.start, text: text.trim() };
  for (const inner of Object.values(value)) yield* textsIn(inner);
}

/** What a literal, a template or a text between tags says; undefined for other nodes. */
function textOf(node: object): string | undefined {
  if (!("type" in node)) return undefined;
  if ((node.type === "Literal" || node.type === "JSXText") && "value" in node)
    return typeof node.value === "string" ? node.value : undefined;
  if (node.type !== "TemplateLiteral" || !("quasis" in node) || !Array.isArray(node.quasis)) return undefined;
  return node.quasis.map(({ value }) => String(value.cooked)).join("…");
}
