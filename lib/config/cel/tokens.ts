/** One piece of an expression. What is no token ends the list as `unknown`. */
export interface CelToken {
  readonly kind: "identifier" | "number" | "text" | "operator" | "unknown" | "end";
  readonly text: string;
  /** Where it starts, in UTF-16 units from 0. */
  readonly at: number;
}

const space = /(?:[\t\n\f\r ]|\/\/[^\n]*(?:\n|$))*/y;
const escape = String.raw`\\(?:[abfnrtv"'\x60?\\]|[0-3][0-7]{2}|[xX][\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8})`;
const longText = (quote: string): string => `${quote}{3}(?:[^\\\\]|${escape})*?${quote}{3}`;
const shortText = (quote: string): string => `${quote}(?:[^\\\\${quote}\\r\\n]|${escape})*${quote}`;
const rawText = (quote: string): string =>
  `[rR](?:${quote}{3}[\\s\\S]*?${quote}{3}|${quote}[^${quote}\\r\\n]*${quote})`;
const texts = [`'`, `"`].flatMap((quote) => [rawText(quote), longText(quote), shortText(quote)]);

/** Longest first within a kind, as the lexer of the language's grammar decides. */
const patterns: readonly (readonly [CelToken["kind"], RegExp])[] = [
  ["text", new RegExp(`[bB]?(?:${texts.join("|")})`, "y")],
  ["number", /(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?|0x[\da-fA-F]+[uU]?|\d+[uU]?)/y],
  ["identifier", /[A-Za-z_][A-Za-z\d_]*/y],
  ["operator", /&&|\|\||==|!=|<=|>=|[<>+\-*/%!?:.,()[\]{}]/y],
];

/**
 * The tokens of a CEL expression, ending with `end`, or with `unknown` where no token begins.
 * @see https://github.com/google/cel-spec/blob/master/doc/langdef.md#syntax
 */
export function celTokens(expression: string): readonly CelToken[] {
  const tokens: CelToken[] = [];
  let at = matched(space, expression, 0).length;
  while (at < expression.length) {
    const token = tokenAt(expression, at);
    tokens.push(token);
    if (token.kind === "unknown") return tokens;
    at += token.text.length;
    at += matched(space, expression, at).length;
  }
  return [...tokens, { kind: "end", text: "", at }];
}

function tokenAt(expression: string, at: number): CelToken {
  for (const [kind, pattern] of patterns) {
    const text = matched(pattern, expression, at);
    if (text !== "") return { kind, text, at };
  }
  return { kind: "unknown", text: expression.slice(at, at + 1), at };
}

function matched(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
}
