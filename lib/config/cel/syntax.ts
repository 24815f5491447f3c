/** The syntax of CEL, which filters of access logs are written in. Nothing is evaluated, and no types are checked. */
import { numberProblem, textProblem } from "./literals.ts";
import { type CelToken, celTokens } from "./tokens.ts";

export interface CelSyntax {
  /** Why the expression is none; undefined for one that parses. */
  readonly error: { readonly message: string /** From 0. */; readonly at: number } | undefined;
  /** Functions that are called, methods and macros among them; in their order. */
  readonly calls: readonly string[];
}

/** What a part of an expression is, as far as macros ask: `has` wants a selection, a comprehension a name. */
type Part = "name" | "selection" | "other";

const keywords: ReadonlySet<string> = new Set(["in", "true", "false", "null"]);
const constants: ReadonlySet<string> = new Set(["true", "false", "null"]);
const reserved: ReadonlySet<string> = new Set(
  "as break const continue else for function if import let loop package namespace return var void while".split(" "),
);
/** Macros that bind a variable → how many arguments they take. */
const comprehensions: ReadonlyMap<string, readonly number[]> = new Map([
  ["all", [2]],
  ["exists", [2]],
  ["exists_one", [2]],
  ["filter", [2]],
  ["map", [2, 3]],
]);
/** From the weakest on. */
const binaryOperators: readonly ReadonlySet<string>[] = [
  new Set(["||"]),
  new Set(["&&"]),
  new Set(["==", "!=", "<", "<=", ">", ">=", "in"]),
  new Set(["+", "-"]),
  new Set(["*", "/", "%"]),
];
/** How deep an expression may nest in cel-go. */
const maxDepth = 250;

/**
 * Reads an expression as cel-go's and Envoy's parsers do, macros included. Optional fields (`a.?b`) and quoted ones are
 * extensions that neither Istio nor Envoy has switched on.
 *
 * @see https://github.com/google/cel-spec/blob/master/doc/langdef.md#syntax
 * @see istio 1.30.3 pkg/config/validation/validation_istiod.go
 */
export function celSyntax(expression: string): CelSyntax {
  const tokens = celTokens(expression);
  const end: CelToken = { kind: "end", text: "", at: expression.length };
  const calls: string[] = [];
  let position = 0;
  let depth = 0;
  let error: CelSyntax["error"];

  const peek = (): CelToken => (error === undefined ? (tokens[position] ?? end) : end);
  const isNext = (text: string): boolean => peek().text === text && peek().kind !== "text";
  /** The first failure counts; after it, nothing is left to read. */
  const fail = (message: string, { at }: CelToken = peek()): Part => {
    error ??= { message, at };
    return "other";
  };
  const unexpected = (wanted: string): Part => {
    const { kind, text } = peek();
    return fail(`expected ${wanted}, but found ${kind === "end" ? "the end" : text}`);
  };
  const take = (text: string): boolean => {
    if (!isNext(text)) return false;
    position++;
    return true;
  };
  const expect = (text: string): void => {
    if (!take(text)) unexpected(text);
  };

  function conditional(): Part {
    if (++depth > maxDepth) fail(`nests deeper than ${maxDepth}`);
    const condition = binary(0);
    let part = condition;
    if (take("?")) {
      binary(0);
      expect(":");
      conditional();
      part = "other";
    }
    depth--;
    return part;
  }

  function binary(level: number): Part {
    const operators = binaryOperators[level];
    if (operators === undefined) return unary();
    let part = binary(level + 1);
    while (peek().kind !== "text" && operators.has(peek().text)) {
      position++;
      binary(level + 1);
      part = "other";
    }
    return part;
  }

  function unary(): Part {
    const operator = isNext("!") ? "!" : "-";
    if (!isNext(operator)) return member(false);
    let negated = false;
    while (take(operator)) negated = operator === "-";
    // A number has its own sign: `!-1` is one, `!-a` is none.
    if (operator === "!" && take("-")) {
      if (peek().kind !== "number") return unexpected("a number");
      negated = true;
    }
    member(negated);
    return "other";
  }

  function member(negated: boolean): Part {
    const isBare = !isNext("(");
    let part = primary(negated);
    // Only a path of bare names can name a message.
    let isPath = isBare && part === "name";
    for (;;) {
      if (take(".")) {
        const name = peek();
        if (name.kind !== "identifier" || keywords.has(name.text)) return unexpected("the name of a field");
        position++;
        const isCall = isNext("(");
        part = isCall ? call(name, true) : "selection";
        isPath &&= !isCall;
      } else if (take("[")) {
        conditional();
        expect("]");
        part = "other";
        isPath = false;
      } else if (isPath && take("{")) {
        part = elements("}", () => entry(fieldName));
        isPath = false;
      } else return part;
    }
  }

  function primary(negated: boolean): Part {
    const token = peek();
    if (token.kind === "number") {
      position++;
      const problem = numberProblem(token.text, negated);
      return problem === undefined ? "other" : fail(problem, token);
    }
    if (token.kind === "text") {
      position++;
      const problem = textProblem(token.text);
      return problem === undefined ? "other" : fail(problem, token);
    }
    if (take("(")) {
      const part = conditional();
      expect(")");
      return part;
    }
    if (take("[")) return elements("]", conditional);
    if (take("{")) return elements("}", () => entry(conditional));
    const isRooted = take(".");
    return identifier(isRooted);
  }

  function identifier(isRooted: boolean): Part {
    const token = peek();
    if (token.kind !== "identifier") return unexpected("an expression");
    if (constants.has(token.text) && !isRooted) {
      position++;
      return "other";
    }
    if (keywords.has(token.text)) return unexpected("an expression");
    if (reserved.has(token.text)) return fail(`${token.text} is a reserved word`);
    position++;
    return isNext("(") ? call(token, false) : "name";
  }

  function call(name: CelToken, hasReceiver: boolean): Part {
    calls.push(name.text);
    expect("(");
    const parts: Part[] = [];
    if (!isNext(")")) {
      do parts.push(conditional());
      while (take(","));
    }
    expect(")");
    if (!hasReceiver && name.text === "has" && parts.length === 1 && parts[0] !== "selection") {
      return fail(
        "has() asks whether a field is there, as in has(request.headers.name); for a key, write 'name' in request.headers",
        name,
      );
    }
    const isMacro = hasReceiver && comprehensions.get(name.text)?.includes(parts.length);
    if (isMacro && parts[0] !== "name") return fail(`the variable of ${name.text}() must be a name`, name);
    return "other";
  }

  /** Elements between commas, after the opening bracket; one more comma is allowed. */
  function elements(closing: string, element: () => void): Part {
    if (!isNext(closing) && !isNext(",")) {
      element();
      while (isNext(",") && tokens[position + 1]?.text !== closing) {
        position++;
        element();
      }
    }
    take(",");
    expect(closing);
    return "other";
  }

  function entry(key: () => void): void {
    key();
    expect(":");
    conditional();
  }

  function fieldName(): void {
    if (peek().kind === "identifier" && !keywords.has(peek().text)) position++;
    else unexpected("the name of a field");
  }

  conditional();
  if (peek().kind !== "end") unexpected("an operator or the end");
  return { error, calls };
}
