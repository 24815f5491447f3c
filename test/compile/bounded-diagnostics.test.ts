import { describe, expect, it } from "vitest";
import { type Diagnostic, fileOrigin } from "../../lib/base/diagnostic.ts";
import { boundedAnswer, boundedBySource, maxOfSource } from "../../lib/compile/bounded-diagnostics.ts";
import { createRecompiler } from "../../lib/compile/recompile.ts";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
import { sortDiagnostics } from "../../lib/compile/sort-diagnostics.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { bare, filesOf, networking } from "./pods/manifests.ts";

const long = "n".repeat(1_000_000);
const route = { hosts: ["a"], http: [{ route: [{ destination: { host: "a" } }] }] };

describe("what a compile says of an object", () => {
  it.each([
    ["name", networking("VirtualService", long, route)],
    ["namespace", networking("VirtualService", "a", route, { namespace: long })],
    ["kind", networking(long, "a", {})],
    ["field", networking("VirtualService", "a", { ...route, [long]: 1 })],
    ["value", networking("VirtualService", "a", { hosts: [long], http: [{ timeout: long }] })],
  ])("has a bound, however long its %s is", async (_what, object) => {
    const store = memoryStore();
    await writeShard(store, "main", filesOf([bare("web-0"), object]));
    const { diagnostics } = await createRecompiler({ store })();
    expect(diagnostics.length).toBeGreaterThan(0);
    expect(JSON.stringify(diagnostics).length).toBeLessThan(20_000);
  });

  it("is the same object where nothing in it is long", () => {
    const diagnostic: Diagnostic = {
      code: "no-effect",
      severity: "info",
      origin: fileOrigin("a.yaml"),
      path: ["spec", 0],
      message: "m".repeat(4_096),
      hint: "",
    };
    expect(sortDiagnostics([diagnostic])[0]).toBe(diagnostic);
  });
});

const finding = (file: string, line: number, more: Partial<Diagnostic> = {}): Diagnostic => ({
  code: "not-an-object",
  severity: "warning",
  origin: fileOrigin(file, line),
  path: [],
  message: "holds no object",
  hint: "",
  ...more,
});
const many = (file: string, count: number): readonly Diagnostic[] =>
  Array.from({ length: count }, (_, at) => finding(file, at + 1));
const placesOf = (diagnostics: readonly Diagnostic[]) =>
  diagnostics.map(({ code, origin: { file, line } }) => `${code} ${file}:${line}`);

describe("what is reported of one source", () => {
  const of = (diagnostics: readonly Diagnostic[]) => boundedBySource(sortDiagnostics(diagnostics), ["main", "b", "c"]);

  it("has a bound, and counts the rest; other sources keep all of theirs", () => {
    const cut = of([...many("b/a.yaml", 1_500), ...many("a.yaml", 700), ...many("c/a.yaml", 700)]);
    const fromB = cut.filter(({ origin }) => origin.file.startsWith("b"));
    expect([cut.length, fromB.length]).toEqual([1_400 + maxOfSource + 1, maxOfSource + 1]);
    expect(fromB[0]).toMatchObject({
      code: "more-findings",
      severity: "warning",
      origin: { file: "b", line: 0 },
      message: "source b has 500 more findings, which are not reported",
    });
  });

  it("names the primary source, whose files have their own names", () => {
    const counts = of(many("z.yaml", 1_001)).filter(({ code }) => code === "more-findings");
    expect(placesOf(counts)).toEqual(["more-findings main:0"]);
  });

  it("is the same list where there is no more, or where it was cut", () => {
    const few = sortDiagnostics([...many("b/a.yaml", maxOfSource), ...many("a.yaml", maxOfSource)]);
    expect(boundedBySource(few, ["main", "b"])).toBe(few);
    const cut = of(many("b/a.yaml", 2_000));
    expect(boundedBySource(cut, ["main", "b"])).toBe(cut);
  });

  it("begins with what is closed and the errors of security objects, then other errors", () => {
    const key = { group: "security.istio.io", kind: "AuthorizationPolicy", name: "a", namespace: "b" };
    const origin = { key, file: "b/z.yaml", line: 1 };
    const closed = finding("", 0, { code: "security-closed", origin });
    const ofPolicy = finding("", 0, { code: "unknown-field", severity: "error", origin });
    const ofClosed = finding("b/z.yaml", 1, { code: "unreadable-document", severity: "error" });
    const other = finding("b/y.yaml", 1, { code: "unreadable-document", severity: "error" });
    const cut = of([...many("b/a.yaml", 1_500), other, ofPolicy, ofClosed, closed]);
    expect(cut).toEqual(expect.arrayContaining([closed, ofPolicy, ofClosed, other]));
    const errors = many("b/a.yaml", 1_500).map((one): Diagnostic => ({ ...one, severity: "error" }));
    const ofErrors = of([...errors, other, ofPolicy, ofClosed, closed]);
    expect(ofErrors).toEqual(expect.arrayContaining([closed, ofPolicy, ofClosed]));
    expect(ofErrors.find(({ code }) => code === "more-findings")?.severity).toBe("error");
  });

  it("is bounded in an answer that says why nothing was done", () => {
    expect(boundedAnswer(many("a.yaml", 5_000)).length).toBe(maxOfSource + 1);
    expect(boundedAnswer(many("a.yaml", 5)).length).toBe(5);
  });
});

describe("a source with findings without end", () => {
  const files = Array.from({ length: 10 }, (_, at) => ({ file: `f${at}.yaml`, text: `${"a\n---\n".repeat(150)}n` }));
  const refused = `apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: a}\nspec: {ports: [{port: 99999999}]}\n`;
  const policy = `apiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\nmetadata: {name: p, namespace: b}\nspec: {rules: 5}\n`;

  it("costs others no more than its bound, and what closes is closed and reported", async () => {
    const store = memoryStore();
    await writeShard(store, "main", filesOf([bare("web-0")]));
    await writeShard(store, "b", [...files, { file: "z.yaml", text: policy }]);
    const { diagnostics } = await createRecompiler({ store })();
    expect(diagnostics.length).toBeLessThan(maxOfSource + 5);
    expect(placesOf(diagnostics)).toEqual(
      expect.arrayContaining(["more-findings b:0", "security-closed b/z.yaml:1", "invalid-value b/z.yaml:4"]),
    );
  });

  it("is refused by a mesh that wants nothing published then", async () => {
    const store = memoryStore();
    await writeShard(store, "main", filesOf([bare("web-0")]));
    await writeShard(store, "b", [...files, { file: "z.yaml", text: policy }]);
    const compile = createRecompiler({ store, change: { securityFailure: "refuse" } });
    await expect(compile()).rejects.toThrow(/nothing was published: a security object is refused/);
  });

  it("has no file that a process with an empty memory takes for faultless", async () => {
    const ofB = [...files, { file: "z.yaml", text: refused }];
    const [first, second] = [filesOf([bare("web-0")]), filesOf([bare("web-0"), bare("web-1")])];
    const compiled = async (mains: readonly (typeof first)[]) => {
      const store = memoryStore();
      await writeShard(store, "b", ofB);
      let last: Awaited<ReturnType<ReturnType<typeof createRecompiler>>> | undefined;
      for (const main of mains) {
        await writeShard(store, "main", main);
        last = await createRecompiler({ store, sources: ["main"], build: "one" })();
      }
      return { version: last?.version, diagnostics: last?.diagnostics };
    };
    expect(await compiled([first, second])).toEqual(await compiled([second]));
  });
});
