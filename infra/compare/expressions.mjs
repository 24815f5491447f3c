// Evaluates the expressions of the Terraform module. HashiCorp's own parser reads them; the operators and functions are those that the
// module uses. Anything else throws, so that nothing is left out of the comparison unnoticed.

import { getExpressionAst } from "@cdktn/hcl2json";

/** @typedef {{ text: Buffer, node: any }} Expression the source text, and its syntax tree from `getExpressionAst` */
/** @typedef {(name: string) => unknown} Scope the value of the first name of a reference; throws for an unknown name */

/** What was parsed, by its text. @type {Map<string, Expression>} */
const parsed = new Map();

/**
 * Parses every expression in a body, at any depth, so that `evaluate` has it.
 *
 * @param {unknown} body as `parse` of hcl2json gives it
 */
export async function parseExpressions(body) {
  if (typeof body === "string") {
    if (!body.includes("${") || parsed.has(body)) return;
    const text = `"${body}"`;
    parsed.set(body, { text: Buffer.from(text), node: await getExpressionAst("main.tf", text) });
  } else if (typeof body === "object" && body !== null)
    for (const part of Object.values(body)) await parseExpressions(part);
}

/**
 * @param {unknown} body as `parseExpressions` took it
 * @param {Scope} scope
 * @returns {any} the same body with the value of each expression in its place
 */
export function evaluate(body, scope) {
  if (Array.isArray(body)) return body.map((part) => evaluate(part, scope));
  if (typeof body === "object" && body !== null)
    return Object.fromEntries(Object.entries(body).map(([name, part]) => [name, evaluate(part, scope)]));
  const found = typeof body === "string" ? parsed.get(body) : undefined;
  return found === undefined ? body : valueOf(found.node, found.text, scope);
}

/**
 * An attribute of an object, or one of its elements.
 *
 * @param {any} value
 * @param {string | number} name
 */
function member(value, name) {
  const found = typeof value?.attribute === "function" ? value.attribute(name) : value?.[name];
  if (found === undefined) throw new Error(`no ${name} in ${JSON.stringify(value)}`);
  return found;
}

/** `{name: value}` or `[value]` as pairs, in Terraform's order. @param {any} value @returns {[any, any][]} */
const entriesOf = (value) =>
  Array.isArray(value)
    ? value.map((one, index) => [index, one])
    : Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));

/** @type {Record<string, (a: any, b: any) => unknown>} */
const binary = {
  equal: (a, b) => a === b,
  notEqual: (a, b) => a !== b,
  greaterThan: (a, b) => a > b,
  logicalAnd: (a, b) => a && b,
  logicalOr: (a, b) => a || b,
};

/** @type {Record<string, (...values: any[]) => unknown>} */
const functions = {
  alltrue: (list) => list.every((/** @type {unknown} */ one) => one === true),
  compact: (list) => list.filter((/** @type {unknown} */ one) => one !== "" && one !== null),
  concat: (...lists) => lists.flat(),
  contains: (list, one) => list.includes(one),
  distinct: (list) => [...new Set(list)],
  join: (separator, list) => list.join(separator),
  jsonencode: (value) => JSON.stringify(value),
  keys: (map) => Object.keys(map).sort(),
  length: (value) => Object.keys(value).length,
  lookup: (map, name, absent) => map[name] ?? absent,
  merge: (...maps) => Object.assign({}, ...maps),
  one: (list) => list[0] ?? null,
  regex: (pattern, text) => {
    const found = new RegExp(pattern.replaceAll("(?P<", "(?<")).exec(text);
    if (found === null) throw new Error(`${text} does not match ${pattern}`);
    return found.groups === undefined ? found[0] : { ...found.groups };
  },
  startswith: (text, start) => text.startsWith(start),
  tonumber: (text) => {
    if (!/^-?\d+(\.\d+)?$/.test(String(text))) throw new Error(`${text} is no number`);
    return Number(text);
  },
  toset: (list) => [...new Set(list)].sort(),
  trim: (text, characters) => {
    let [start, end] = [0, text.length];
    while (start < end && characters.includes(text[start])) start++;
    while (end > start && characters.includes(text[end - 1])) end--;
    return text.slice(start, end);
  },
};

/**
 * @param {any} node
 * @param {Buffer} text
 * @param {Scope} scope
 * @returns {any}
 */
function valueOf(node, text, scope) {
  const { type, meta, children } = node;
  const value = (/** @type {any} */ one, /** @type {Scope} */ within = scope) => valueOf(one, text, within);
  switch (type) {
    // Parentheses.
    case "":
    case "templateWrap":
      return value(children[0]);
    case "template":
      return children.map((/** @type {any} */ one) => value(one)).join("");
    case "literalValue":
      return literal(meta);
    case "tuple":
      return children.map((/** @type {any} */ one) => value(one));
    case "object":
      return objectOf(children, text, value);
    case "conditional":
      return value(value(children[0]) ? children[1] : children[2]);
    case "binaryOp": {
      const operator = binary[meta.operator];
      if (operator === undefined) throw new Error(`no operator ${meta.operator}: ${meta.value}`);
      return operator(value(children[0]), value(children[1]));
    }
    case "unaryOp":
      return meta.operator === "negate" ? -value(children[0]) : !value(children[0]);
    case "index":
      return member(value(children[0]), value(children[1]));
    case "relativeTraversal":
      return membersOf(value(children[0]), meta.traversal);
    case "scopeTraversal":
      return membersOf(scope(meta.traversal[0].segment), meta.traversal.slice(1));
    case "for":
      return forOf(meta, children, value, scope);
    case "function":
      return called(meta, children, value);
    default:
      throw new Error(`no expression of the type ${type}: ${text}`);
  }
}

/** @param {{ type: string, value: string }} meta */
function literal({ type, value }) {
  if (type === "string") {
    if (value.includes("\\")) throw new Error(`a text with an escape is not read: ${value}`);
    return value;
  }
  return JSON.parse(value);
}

/** @param {any} value @param {{ type: string, segment: string }[]} steps */
const membersOf = (value, steps) =>
  steps.reduce((found, { segment }) => member(found, segment.replaceAll('"', "")), value);

/**
 * @param {any[]} children keys and values by turns
 * @param {Buffer} text
 * @param {(node: any) => any} value
 */
function objectOf(children, text, value) {
  /** @type {Record<string, unknown>} */
  const made = {};
  for (let at = 0; at < children.length; at += 2) {
    const key = children[at];
    // A bare name is a key by its text; all else is evaluated.
    const { start, end } = key.range;
    const name = key.children.length > 0 ? value(key) : text.subarray(start.byte, end.byte).toString();
    made[name] = value(children[at + 1]);
  }
  return made;
}

/**
 * @param {any} meta
 * @param {any[]} children the collection, the key where an object is made, the value, and the condition where there is one
 * @param {(node: any, within?: Scope) => any} value
 * @param {Scope} scope
 */
function forOf(meta, children, value, scope) {
  const rest = children.slice(1);
  const key = meta.keyExpression ? rest.shift() : undefined;
  const [each, condition] = rest;
  const made = [];
  for (const [name, one] of entriesOf(value(children[0]))) {
    const within = (/** @type {string} */ wanted) => {
      if (wanted === meta.valVar) return one;
      return meta.keyVar !== "" && wanted === meta.keyVar ? name : scope(wanted);
    };
    if (condition !== undefined && value(condition, within) !== true) continue;
    made.push([key === undefined ? "" : value(key, within), value(each, within)]);
  }
  return key === undefined ? made.map(([, one]) => one) : Object.fromEntries(made);
}

/**
 * @param {{ name: string, value: string }} meta
 * @param {any[]} children
 * @param {(node: any) => any} value
 */
function called({ name, value: source }, children, value) {
  if (name === "can" || name === "try") {
    for (const [index, child] of children.entries())
      try {
        const found = value(child);
        return name === "can" ? true : found;
      } catch (error) {
        if (name === "try" && index === children.length - 1) throw error;
      }
    return false;
  }
  const one = functions[name];
  if (one === undefined) throw new Error(`no function ${name}: ${source}`);
  return one(...children.map((child) => value(child)));
}
