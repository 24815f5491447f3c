import { byCodePoint, type Diagnostic, keyText, kindText, PortolanError } from "../base/diagnostic.ts";
import { type Config, keyOf } from "../config/config.ts";
import { byLevelAndPlace, inIstioForm } from "../config/istio-form.ts";
import { kindSchemas } from "../config/kind-registry.ts";
import type { Sidecar } from "../config/kinds/sidecar.ts";
import { type AnalysisInput, analysisOf } from "./analysis-input.ts";
import { type Analyzer, found } from "./analyzer.ts";
import { gatewayAnalyzers } from "./gateway-analyzers.ts";
import { hiddenHostAnalyzers } from "./hidden-host-analyzers.ts";
import { rewriteAnalyzers } from "./rewrite-analyzers.ts";
import { routeAnalyzers } from "./route-analyzers.ts";
import { scopeAnalyzers } from "./scope-analyzers.ts";
import { serviceAnalyzers } from "./service-analyzers.ts";
import { virtualServiceAnalyzers } from "./virtual-service-analyzers.ts";
import { workloadAnalyzers } from "./workload-analyzers.ts";

const deprecation: Analyzer = {
  name: "deprecation.DeprecationAnalyzer",
  about: "nothing is used that will go",
  *analyze({ virtualServices, ofKind }) {
    for (const config of virtualServices) {
      for (const [index, route] of (config.spec.http ?? []).entries()) {
        if (route.fault?.delay?.percent === undefined) continue;
        const path = ["spec", "http", index, "fault", "delay", "percent"];
        yield found("IST0002", config, path, "is deprecated", "use percentage");
      }
    }
    for (const config of ofKind<Sidecar>("Sidecar")) {
      if (config.spec.outboundTrafficPolicy?.egressProxy === undefined) continue;
      yield found("IST0002", config, ["spec", "outboundTrafficPolicy", "egressProxy"], "is ignored");
    }
  },
};

/** What reading found in objects of a kind. */
function validationAnalyzer(kind: string): Analyzer {
  return {
    name: `schema.ValidationAnalyzer.${kind}`,
    about: `objects of kind ${kind} are valid`,
    *analyze({ diagnostics }) {
      for (const diagnostic of diagnostics) {
        if (kindText(diagnostic.origin.key) !== kind || diagnostic.severity === "info") continue;
        yield diagnostic;
      }
    },
  };
}

/** All analysers that need no cluster, by name. @see docs/how-istio-does-it/analysis.md#analysers */
export const analyzers: readonly Analyzer[] = [
  deprecation,
  ...virtualServiceAnalyzers,
  ...serviceAnalyzers,
  ...gatewayAnalyzers,
  ...routeAnalyzers,
  ...workloadAnalyzers,
  ...hiddenHostAnalyzers,
  ...rewriteAnalyzers,
  ...scopeAnalyzers,
  ...kindSchemas.map((schema) => validationAnalyzer(kindText(schema))),
].sort((a, b) => byCodePoint(a.name, b.name));

/** Analysers of what does not fit together; the others repeat what reading reports. */
export const crossAnalyzers: readonly Analyzer[] = analyzers.filter(({ name }) => !name.startsWith("schema."));

/** Their names. */
export const wholeAnalyzers: readonly string[] = crossAnalyzers.map(({ name }) => name);

const analyzedKinds: ReadonlySet<string> = new Set(kindSchemas.map(kindText));

export interface AnalyzeOptions {
  /** Names of the analysers to run; absent: all of them. */
  readonly only?: readonly string[];
  /** `CODE=Kind name.namespace`, with `*` for any text. */
  readonly suppress?: readonly string[];
}

/**
 * Messages by level, code, then place. What an object's annotation or an option suppresses is left out.
 *
 * @throws PortolanError when an analyser is asked for that does not exist
 */
export function analyze(input: AnalysisInput, { only, ...options }: AnalyzeOptions = {}): readonly Diagnostic[] {
  const chosen = only === undefined ? analyzers : only.map(analyzerNamed);
  const analysis = analysisOf(input);
  const messages = [...new Set(chosen)].flatMap((analyzer) => [...analyzer.analyze(analysis)]);
  const suppressed = suppressions(options.suppress ?? []);
  const all = [...messages, ...(only === undefined ? unanalyzed(input) : restOf(input))];
  return reported(all, input.configs).filter((one) => !suppressed(one));
}

/** Messages in Istio's form and order, without those that the annotation of an object suppresses. */
export function reported(messages: readonly Diagnostic[], configs: readonly Config[]): readonly Diagnostic[] {
  const annotated = suppressedByAnnotation(configs);
  return messages
    .map(inIstioForm)
    .filter((one) => !annotated(one))
    .sort(byLevelAndPlace);
}

function analyzerNamed(wanted: string): Analyzer {
  const found = analyzers.find(({ name }) => name === wanted);
  if (found === undefined) throw new PortolanError(noAnalyzer(wanted));
  return found;
}

/** What a command prints for a name of no analyser: those that there are. */
export function noAnalyzer(wanted: string): string {
  return `there is no analyser ${JSON.stringify(wanted)}; use one of ${wholeAnalyzers.join(", ")}, or schema.ValidationAnalyzer.KIND`;
}

/** What no analyser of a kind repeats, and concerns every analysis: unreadable documents, kinds that are misspelt, Kubernetes' own, and secrets. */
function restOf({ diagnostics }: AnalysisInput): readonly Diagnostic[] {
  return diagnostics.flatMap((one): readonly Diagnostic[] => {
    const isError = one.severity === "error" && !analyzedKinds.has(kindText(one.origin.key));
    if (isError) return [one];
    // No analyser of istioctl's is about secrets, and no source stores one.
    return one.code === "secret-in-source" && one.severity === "warning" ? [one] : [];
  });
}

/** All that reading and compiling said and no analyser repeats, under its own code: a publish says it, too. */
function unanalyzed(input: AnalysisInput): readonly Diagnostic[] {
  const isRepeated = ({ severity, code, origin }: Diagnostic) =>
    (severity !== "info" && analyzedKinds.has(kindText(origin.key))) ||
    severity === "error" ||
    (code === "secret-in-source" && severity === "warning");
  return [...restOf(input), ...input.diagnostics.filter((one) => !isRepeated(one)), ...(input.compiled ?? [])];
}

/** `Kind name.namespace`, as istioctl writes origins. */
export function originText({ origin }: Diagnostic): string {
  const { name, namespace } = origin.key;
  return `${kindText(origin.key)} ${namespace === "" ? name : `${name}.${namespace}`}`;
}

function suppressions(patterns: readonly string[]): (diagnostic: Diagnostic) => boolean {
  const rules = patterns.map((pattern) => {
    const [code = "", origin = "*"] = pattern.split("=", 2);
    const text = origin.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*");
    return { code, origin: new RegExp(`^${text}$`) };
  });
  return (diagnostic) =>
    rules.some(({ code, origin }) => code === diagnostic.code && origin.test(originText(diagnostic)));
}

function suppressedByAnnotation(configs: readonly Config[]): (diagnostic: Diagnostic) => boolean {
  const codes = new Map(
    configs.flatMap((config) => {
      const listed = config.meta.annotations["galley.istio.io/analyze-suppress"];
      return listed === undefined
        ? []
        : [[keyText(keyOf(config)), listed.split(",").map((code) => code.trim())] as const];
    }),
  );
  return ({ code, origin: { key } }) => {
    const own = codes.get(keyText(key)) ?? [];
    return own.includes("*") || own.includes(code);
  };
}
