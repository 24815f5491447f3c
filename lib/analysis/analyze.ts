import { type Config, keyOf } from "../config/config.ts";
import { byCodePoint, type Diagnostic, keyText, kindText } from "../config/diagnostic.ts";
import type { AnalysisCode } from "../config/diagnostic-codes.ts";
import { kindSchemas } from "../config/kind-registry.ts";
import type { Sidecar } from "../config/kinds/sidecar.ts";
import { ineffectiveMatch, unreachableRoute } from "../config/rules/routes/unreachable-routes.ts";
import { type AnalysisInput, analysisOf } from "./analysis-input.ts";
import { type Analyzer, found, messageTypes } from "./analyzer.ts";
import { gatewayAnalyzers } from "./gateway-analyzers.ts";
import { routeAnalyzers } from "./route-analyzers.ts";
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

/** What reading said of objects of a kind, under istioctl's codes. */
function validationAnalyzer(kind: string): Analyzer {
  return {
    name: `schema.ValidationAnalyzer.${kind}`,
    about: `objects of kind ${kind} are valid`,
    *analyze({ diagnostics }) {
      for (const diagnostic of diagnostics) {
        if (kindText(diagnostic.origin.key) !== kind || diagnostic.severity === "info") continue;
        const code = validationCode(diagnostic);
        yield { ...diagnostic, code, severity: messageTypes[code][1] };
      }
    },
  };
}

function validationCode({ code, severity }: Diagnostic): AnalysisCode {
  if (severity === "error") return "IST0106";
  if (code === unreachableRoute) return "IST0130";
  return code === ineffectiveMatch ? "IST0131" : "IST0133";
}

/** All analysers that need no cluster, by name. @see docs/how-istio-does-it/analysis.md#analysers */
export const analyzers: readonly Analyzer[] = [
  deprecation,
  ...virtualServiceAnalyzers,
  ...serviceAnalyzers,
  ...gatewayAnalyzers,
  ...routeAnalyzers,
  ...workloadAnalyzers,
  ...kindSchemas.map((schema) => validationAnalyzer(kindText(schema))),
].sort((a, b) => byCodePoint(a.name, b.name));

const analyzedKinds: ReadonlySet<string> = new Set(kindSchemas.map(kindText));

export interface AnalyzeOptions {
  /** Names of the analysers to run; all when none of them is known, or none is given. */
  readonly only?: readonly string[];
  /** `CODE=Kind name.namespace`, with `*` for any text. */
  readonly suppress?: readonly string[];
}

const levels = { error: 0, warning: 1, info: 2 } as const;

/** Messages by level, code, then place. What an object's annotation or an option suppresses is left out. */
export function analyze(input: AnalysisInput, options: AnalyzeOptions = {}): readonly Diagnostic[] {
  const analysis = analysisOf(input);
  const chosen = analyzers.filter(({ name }) => options.only?.includes(name));
  const messages = (chosen.length === 0 ? analyzers : chosen).flatMap((analyzer) => [...analyzer.analyze(analysis)]);
  // What no analyser of a kind repeats concerns every analysis: unreadable documents, kinds that are misspelt, Kubernetes' own.
  const unreadable = input.diagnostics.filter(
    ({ origin, severity }) => severity === "error" && !analyzedKinds.has(kindText(origin.key)),
  );
  // No analyser of istioctl's is about secrets, and no source stores one.
  const secrets = input.diagnostics.filter(
    ({ code, severity }) => code === "secret-in-source" && severity === "warning",
  );
  const suppressed = suppressions(options.suppress ?? []);
  const annotated = suppressedByAnnotation(input.configs);
  return [...messages, ...secrets, ...unreadable.map((one): Diagnostic => ({ ...one, code: "IST0106" }))]
    .filter((one) => !suppressed(one) && !annotated(one))
    .sort(
      (a, b) =>
        levels[a.severity] - levels[b.severity] ||
        byCodePoint(a.code, b.code) ||
        byCodePoint(a.origin.file, b.origin.file) ||
        a.origin.line - b.origin.line ||
        byCodePoint(a.path.join("."), b.path.join(".")),
    );
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
    configs.map((config) => [
      keyText(keyOf(config)),
      config.meta.annotations["galley.istio.io/analyze-suppress"]?.split(",").map((code) => code.trim()) ?? [],
    ]),
  );
  return ({ code, origin: { key } }) => {
    const own = codes.get(keyText(key)) ?? [];
    return own.includes("*") || own.includes(code);
  };
}
