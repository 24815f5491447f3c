import type { Diagnostic } from "../base/diagnostic.ts";
import { sameElements } from "../incremental/same-elements.ts";
import { type Analysis, type AnalysisInput, createAnalyses } from "./analysis-input.ts";
import { crossAnalyzers, reported } from "./analyze.ts";
import type { Analyzer } from "./analyzer.ts";

/** What analysers of a whole world read: what reading and compiling reported is no part of it. */
export type AnalyzedWorld = Omit<AnalysisInput, "diagnostics" | "compiled">;

/** What one analyser found, and what it read for that: the name of a lookup → its value. */
interface Made {
  readonly reads: ReadonlyMap<string, unknown>;
  readonly messages: readonly Diagnostic[];
}

/**
 * The messages of the analysers, round after round. An analyser runs again only where a lookup that it read in the round before has another
 * value. Objects that did not change keep their identity from compile to compile, and so do lists of them.
 *
 * @returns a function that gives the same list where it has nothing new
 */
export function createAnalysis(): (world: AnalyzedWorld) => readonly Diagnostic[] {
  const analyses = createAnalyses();
  const made = new Map<Analyzer, Made>();
  let before: { readonly of: readonly unknown[]; readonly messages: readonly Diagnostic[] } | undefined;
  return (world) => {
    const analysis = analyses({ ...world, diagnostics: [] });
    const results = crossAnalyzers.map((analyzer) => {
      const known = made.get(analyzer);
      const result = known !== undefined && isUpToDate(known, analysis) ? known : run(analyzer, analysis);
      made.set(analyzer, result);
      return result;
    });
    // Objects suppress messages by their annotations.
    const of = [...results, ...world.configs];
    if (before === undefined || !sameElements(before.of, of)) {
      const all = results.flatMap(({ messages }) => messages);
      before = { of, messages: reported(all, world.configs) };
    }
    return before.messages;
  };
}

function run(analyzer: Analyzer, analysis: Analysis): Made {
  const reads = new Map<string, unknown>();
  const noted = <T>(name: string, value: T): T => {
    reads.set(name, value);
    return value;
  };
  const watched = new Proxy(analysis, {
    get: (of, name, self) =>
      name === "ofKind"
        ? (kind: string) => noted(`${kindRead}${kind}`, of.ofKind(kind))
        : noted(String(name), Reflect.get(of, name, self)),
  });
  return { messages: [...analyzer.analyze(watched)], reads };
}

const kindRead = "ofKind ";

const isUpToDate = ({ reads }: Made, analysis: Analysis): boolean =>
  [...reads].every(
    ([name, value]) =>
      value ===
      (name.startsWith(kindRead) ? analysis.ofKind(name.slice(kindRead.length)) : Reflect.get(analysis, name)),
  );
