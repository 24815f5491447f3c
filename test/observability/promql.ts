import { parser } from "@prometheus-io/lezer-promql";

/** What an expression of PromQL names. */
export interface ReadExpression {
  /** Where it is none, 0-based; empty where it is one. */
  readonly errors: readonly number[];
  readonly metrics: readonly string[];
  /** That it selects or groups by. */
  readonly labels: readonly string[];
}

/** @param text with Grafana's `$__rate_interval` or without */
export function readPromql(text: string): ReadExpression {
  const plain = text.replaceAll("$__rate_interval", "5m");
  const errors: number[] = [];
  const metrics: string[] = [];
  const labels: string[] = [];
  parser.parse(plain).iterate({
    enter(node) {
      if (node.type.isError) errors.push(node.from);
      if (node.name === "Identifier" && node.node.parent?.name === "VectorSelector")
        metrics.push(plain.slice(node.from, node.to));
      if (node.name === "LabelName") labels.push(plain.slice(node.from, node.to));
    },
  });
  return { errors, metrics, labels };
}
