import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { check } from "recheck";
import { describe, expect, it } from "vitest";
import { parseAst } from "vitest/node";
import { soakRuns } from "./soak-options.ts";

const root = resolve(import.meta.dirname, "..");

/** The expressions that were checked and found safe, which are checked again in `npm run test:soak` alone. `-u` writes it. */
const safeFile = join(root, "test/safe-expressions.txt");

/** Expressions that the checker calls slow and that may stay, each with the reason: what bounds the texts that it is matched with. */
const exceptions: Readonly<Record<string, string>> = {
  "/(\\d*)(?:\\.(\\d*))?(ns|us|µs|μs|ms|s|m|h)/g": "a duration has at most 64 characters, and is one by then",
  "/^Hostname|IPAddress|NamedAddress|[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\\/[A-Za-z0-9\\/\\-._~%!$&'()*+,;=:]+$/":
    "a type of an address has at most 253 characters by then; the definition writes it so",
  "/^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?$|[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\\/[A-Za-z0-9]+$/":
    "a protocol has at most 255 characters by then; the definition writes it so",
  '/"(tlsCertificateSdsSecretConfigs|validationContextSdsSecretConfig)":[[{]([^}\\]]*)[}\\]]/g':
    "a stored resource is JSON, in which every bracket is closed soon",
  "/^[-_.]+|[-_.]+$/g": "a label has at most 63 characters by then",
  '/([a-z]+)\\s*=\\s*(?:"([^"]*)"|([^\\s,"]+))/gi': "a challenge of a registry has at most 2,000 characters by then",
};

/** Files that make expressions when they are called, each with the reason why that is no risk. */
const madeLater: Readonly<Record<string, string>> = {
  "lib/ca/authority.ts": "the label of a block of PEM, which this repository writes",
  "lib/injection/context.ts": "types of images, which this repository lists",
  "lib/analysis/analyze.ts": "a pattern of literals with `.*` between them, of a suppression that the caller writes",
  "lib/agent/envoy/readiness.ts": "the name of a statistic, which this repository writes",
};

interface Expression {
  readonly source: string;
  readonly flags: string;
  /** Where it stands first, `lib/x.ts:12`. */
  readonly where: string;
}

/** Every object of a syntax tree. */
function* objectsIn(value: unknown): Generator<object> {
  if (typeof value !== "object" || value === null) return;
  yield value;
  for (const inner of Object.values(value)) yield* objectsIn(inner);
}

const field = (of: unknown, name: string): unknown =>
  typeof of === "object" && of !== null ? Reflect.get(of, name) : undefined;

/** What a file has: expressions as literals, and whether it makes others out of texts. */
function expressionsIn(file: string): { readonly literals: readonly Expression[]; readonly isMaking: boolean } {
  const text = readFileSync(join(root, file), "utf8");
  const literals: Expression[] = [];
  let isMaking = false;
  for (const node of objectsIn(parseAst(text, { lang: file.endsWith("tsx") ? "tsx" : "ts" }))) {
    const [regex, start] = [field(node, "regex"), field(node, "start")];
    if (regex !== undefined) {
      const line = text.slice(0, Number(start)).split("\n").length;
      const [source, flags] = [String(field(regex, "pattern")), String(field(regex, "flags"))];
      literals.push({ source, flags, where: `${file}:${line}` });
    }
    const isMade = /^(?:New|Call)Expression$/.test(String(field(node, "type")));
    if (isMade && field(field(node, "callee"), "name") === "RegExp") isMaking = true;
  }
  return { literals, isMaking };
}

/** Expressions that modules make when they are loaded. */
async function madeBy(files: readonly string[]): Promise<readonly Expression[]> {
  const made: Expression[] = [];
  const Original = globalThis.RegExp;
  globalThis.RegExp = new Proxy(Original, {
    construct(target, [source, flags = ""]: [string | RegExp, string?]) {
      const [, , caller = ""] = (new Error("called").stack ?? "").split("\n");
      const where = files.find((file) => caller.includes(file));
      if (typeof source === "string" && where !== undefined) made.push({ source, flags, where });
      return Reflect.construct(target, [source, flags]);
    },
  });
  try {
    // Another test of this worker may have loaded the module before.
    for (const file of files) await import(`${pathToFileURL(join(root, file))}?again`);
  } finally {
    globalThis.RegExp = Original;
  }
  return made;
}

/** Of one expression. Far beyond what one takes, also on a machine that does much else. */
const timeoutMs = 600_000;

/** Why an expression may take long for some text; undefined for one whose time follows the length of the text. */
async function whySlow({ source, flags }: Expression): Promise<string | undefined> {
  // Limits count the characters that are read; a limit of time would call any expression slow on a machine that is busy.
  const found = await check(source, flags, { timeout: timeoutMs, incubationTimeout: null, attackTimeout: null });
  switch (found.status) {
    case "safe":
      return undefined;
    case "vulnerable":
      return `${found.complexity.summary} for ${found.attack.pattern.slice(0, 100)}`;
    case "unknown":
      return `not known (${found.error.kind})`;
  }
}

describe("the regular expressions of lib and functions", () => {
  it("take time that follows the length of a text, or are listed here with what bounds the text", async () => {
    const files = globSync("{lib,functions}/**/*.{ts,tsx,mjs}", { cwd: root }).sort();
    const all = files.map((file) => ({ file, ...expressionsIn(file) }));
    const making = all.filter(({ isMaking }) => isMaking).map(({ file }) => file);
    const made = await madeBy(making);
    const known = new Set(made.map(({ where }) => where));
    expect(making.filter((file) => !known.has(file))).toEqual(Object.keys(madeLater).sort());

    const expressions = new Map<string, Expression>();
    for (const one of [...all.flatMap(({ literals }) => literals), ...made]) {
      const text = `/${one.source}/${one.flags}`;
      if (!expressions.has(text)) expressions.set(text, one);
    }
    expect(expressions.size).toBeGreaterThan(300);
    const wanted = [...expressions].filter(([text]) => !Object.hasOwn(exceptions, text));
    const found = new Set(readFileSync(safeFile, "utf8").split("\n"));
    const slow: string[] = [];
    for (const [text, one] of wanted) {
      // Each takes a tenth of a second, and whatever was found of an expression holds for good.
      if (soakRuns(0, 1) === 0 && found.has(JSON.stringify(text))) continue;
      const why = await whySlow(one);
      if (why !== undefined) slow.push(`${one.where}: ${text} is ${why}`);
    }
    expect(slow).toEqual([]);
    const lines = wanted.map(([text]) => JSON.stringify(text)).sort();
    await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot(safeFile);
    expect(Object.keys(exceptions).filter((text) => !expressions.has(text))).toEqual([]);
  }, 900_000);

  it("would be told of one that takes long", async () => {
    expect(await whySlow({ source: "\\/+$", flags: "", where: "" })).toContain("2nd degree polynomial");
    expect(await whySlow({ source: "(a*)*b", flags: "", where: "" })).toContain("exponential");
  }, 150_000);
});
