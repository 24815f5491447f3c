import { celSyntax } from "../../cel/syntax.ts";
import { error, type Finding, type Path, warning } from "../../finding.ts";
import type { CustomTag, Metrics, ProviderRef, Telemetry } from "../../kinds/telemetry.ts";
import { policyTargetRules } from "../selectors.ts";
import { each, percentRules } from "../values.ts";

/** @see docs/how-istio-does-it/kind-rules.md#telemetry */
export function* telemetryRules(spec: Telemetry): Generator<Finding> {
  yield* policyTargetRules(spec);
  if ((spec.tracing?.length ?? 0) > 1) yield warning(["tracing"], "only the first entry has an effect");
  yield* each(spec.tracing, ["tracing"], function* (tracing, path) {
    yield* providerRules(tracing.providers, [...path, "providers"]);
    if ((tracing.providers?.length ?? 0) > 1) {
      yield warning([...path, "providers"], "only the first provider has an effect");
    }
    yield* percentRules(tracing.randomSamplingPercentage, [...path, "randomSamplingPercentage"]);
    for (const [name, tag] of Object.entries(tracing.customTags ?? {})) {
      yield* customTagRules(name, tag, [...path, "customTags", name]);
    }
  });
  yield* each(spec.metrics, ["metrics"], metricsRules);
  yield* each(spec.accessLogging, ["accessLogging"], function* (logging, path) {
    yield* providerRules(logging.providers, [...path, "providers"]);
    if (logging.filter !== undefined)
      yield* expressionRules(logging.filter.expression ?? "", [...path, "filter", "expression"]);
  });
}

/** Functions of expressions that Envoy has; methods by their names only. */
const celFunctions: ReadonlySet<string> = new Set(
  (
    "bool bytes contains double duration dyn endsWith extract getDate getDayOfMonth getDayOfWeek getDayOfYear getFullYear getHours " +
    "getMilliseconds getMinutes getMonth getSeconds has int matches size startsWith timestamp type uint"
  ).split(" "),
);

/** Istio parses the expression and no more; Envoy then looks for its functions, too. */
function* expressionRules(expression: string, path: Path): Generator<Finding> {
  const { error: problem, calls } = celSyntax(expression);
  if (problem !== undefined) {
    yield error(path, `${JSON.stringify(expression)} is no CEL expression: ${problem.message}`);
    return;
  }
  for (const name of new Set(calls.filter((call) => !celFunctions.has(call)))) {
    yield warning(path, `Envoy has no function ${name}, and refuses the listeners that are to log by it`);
  }
}

function* providerRules(providers: readonly ProviderRef[] | undefined, path: Path): Generator<Finding> {
  yield* each(providers, path, function* (provider, at) {
    if (provider.name === "") yield error([...at, "name"], "is required", "", "missing-field");
  });
}

function* customTagRules(name: string, tag: CustomTag, path: Path): Generator<Finding> {
  if (name === "") yield error(path, "a tag needs a name", "", "missing-field");
  const kinds = Object.keys(tag);
  if (kinds.length !== 1) {
    yield error(path, "needs exactly one of literal, environment, header and formatter", "", "missing-field");
  }
  for (const kind of ["literal", "formatter"] as const) {
    if (tag[kind]?.value === "") yield error([...path, kind, "value"], "is required", "", "missing-field");
  }
  for (const kind of ["environment", "header"] as const) {
    if (tag[kind]?.name === "") yield error([...path, kind, "name"], "is required", "", "missing-field");
  }
}

function* metricsRules(metrics: Metrics, path: Path): Generator<Finding> {
  yield* providerRules(metrics.providers, [...path, "providers"]);
  yield* each(metrics.overrides, [...path, "overrides"], function* (override, at) {
    const { match, tagOverrides = {} } = override;
    if (match?.customMetric === "") yield error([...at, "match", "customMetric"], "must not be empty");
    if (match?.customMetric !== undefined && match.metric !== undefined) {
      yield error([...at, "match"], "metric and customMetric exclude each other", "", "conflicting-fields");
    }
    for (const [name, tag] of Object.entries(tagOverrides)) {
      const where = [...at, "tagOverrides", name];
      if (name === "") yield warning(where, "a tag needs a name");
      if (tag.operation === "REMOVE") {
        if (tag.value !== undefined)
          yield error([...where, "value"], "has no meaning with REMOVE", "", "conflicting-fields");
      } else if (tag.value === undefined)
        yield error([...where, "value"], "is required for UPSERT", "", "missing-field");
    }
  });
}
