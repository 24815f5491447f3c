import { error, type Finding, type Path } from "../finding.ts";
import { expressionSize } from "../values/expression-size.ts";
import { compileRe2 } from "../values/re2.ts";

const maxLength = 1024;

/** Envoy refuses a larger one, with the whole route table, where its bootstrap is Istio's or ours. */
const mostInstructions = 30_000;

/** All expressions of one object together: reading them takes less than a second then, and the next object has its turn. */
const mostTogether = 150_000;

/** RE2 without look-around and back references, as Envoy compiles it. */
export function* regexRules(regex: string, path: Path): Generator<Finding> {
  const problem =
    regex === ""
      ? "must not be empty"
      : regex.length > maxLength
        ? `is longer than ${maxLength} characters`
        : expressionProblem(regex);
  if (problem !== undefined) yield error(path, problem);
}

/** Why Envoy cannot read an expression, of whatever length; undefined: it can. */
export function expressionProblem(regex: string): string | undefined {
  if (expressionSize(regex) > mostInstructions) return "is a regular expression that is too large for Envoy";
  if (compileRe2(regex) !== undefined) return undefined;
  return `${JSON.stringify(regex)} is no regular expression that RE2 understands`;
}

export type ExpressionProblem = typeof expressionProblem;

/** The same of one expression after the other, up to what one object may have of them together: the one beyond that is too large, too. */
export function boundedExpressions(): ExpressionProblem {
  let size = 0;
  return (regex) => {
    size += expressionSize(regex);
    return size > mostTogether ? "is too large, with the regular expressions before it" : expressionProblem(regex);
  };
}

export const isRegex = (regex: string): boolean => expressionProblem(regex) === undefined;

/** Says whether all expressions of an object are too large together; none of them should be compiled then. */
export function* sizeOfAllRules(expressions: readonly string[], path: Path): Generator<Finding> {
  const size = expressions.reduce((sum, regex) => sum + expressionSize(regex), 0);
  if (size <= mostTogether) return;
  yield error(path, "has regular expressions that are too large together", "split the object, or write smaller ones");
}
