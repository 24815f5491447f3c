// Reads the Terraform module and evaluates it for given variables, without a provider: a value that only AWS can give (an ARN, a URL) is a
// string that names the resource and the attribute.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "@cdktn/hcl2json";
import { evaluate, parseExpressions } from "./expressions.mjs";

/**
 * One resource or data source of the module.
 *
 * @typedef {object} Instance
 * @property {string} type such as `aws_sqs_queue` or `data.archive_file`
 * @property {string} name its key of `for_each` where there is one, else the label of its block
 * @property {boolean} retained whether Terraform refuses to destroy it
 * @property {() => any} body its evaluated arguments and blocks, without those that are Terraform's own
 * @property {(name: string) => string} attribute the text that stands for an attribute
 */

/** Blocks by `locals`, `resource`, `data`, `variable` and `output`. @typedef {Record<string, any>} Module */

/**
 * @param {string} folder
 * @param {(text: string) => string} [edit] changes the text of each file before it is parsed
 * @returns {Promise<Module>}
 */
export async function readModule(folder, edit = (text) => text) {
  /** @type {Module} */
  const read = { locals: [], resource: {}, data: {}, variable: {}, output: {} };
  for (const name of (await readdir(folder)).filter((file) => file.endsWith(".tf"))) {
    const {
      locals = [],
      terraform: _,
      ...blocks
    } = await parse(name, edit(await readFile(join(folder, name), "utf8")));
    read.locals.push(...locals);
    for (const [kind, types] of Object.entries(blocks))
      for (const [type, labels] of Object.entries(types))
        read[kind][type] = Array.isArray(labels) ? labels : { ...read[kind][type], ...labels };
  }
  await parseExpressions(read);
  return read;
}

/**
 * @param {Module} read
 * @param {Record<string, unknown>} given variables; the others have their defaults
 * @param {(instance: Instance, attribute: string) => string} symbol the text that stands for an attribute of a resource
 * @returns {{ resources: Instance[], outputs: Record<string, any> }} without data sources
 * @throws Error with the message of each validation that the variables do not pass, and for what `evaluate` cannot read
 */
export function evaluateModule(read, given, symbol) {
  const locals = Object.assign({}, ...read.locals);
  /** @type {Record<string, any>} */
  const variables = {};
  for (const [name, [{ default: absent }]] of Object.entries(read.variable)) variables[name] = given[name] ?? absent;
  const undeclared = Object.keys(given).filter((name) => read.variable[name] === undefined);
  if (undeclared.length > 0) throw new Error(`the module has no variable ${undeclared.join(", ")}`);
  /** Values of locals and instances of blocks, by their names in the module. @type {Map<string, any>} */
  const known = new Map();
  const once = (/** @type {string} */ name, /** @type {() => any} */ make) => {
    if (!known.has(name)) known.set(name, make());
    return known.get(name);
  };
  /** @param {string[]} names @param {(name: string) => any} make @returns {any} an object whose values are made when they are read */
  const lazy = (names, make) =>
    Object.defineProperties({}, Object.fromEntries(names.map((name) => [name, { get: () => make(name) }])));
  const blocksOf = (/** @type {string} */ kind, /** @type {string} */ type) =>
    lazy(Object.keys(read[kind][type]), (label) =>
      once(`${kind}.${type}.${label}`, () =>
        instancesOf(kind === "data" ? `data.${type}` : type, label, read[kind][type][label][0]),
      ),
    );
  /** @type {import("./expressions.mjs").Scope} */
  const scope = (name) => {
    if (name === "var") return variables;
    if (name === "local")
      return lazy(Object.keys(locals), (local) => once(`local.${local}`, () => evaluate(locals[local], scope)));
    if (name === "data") return lazy(Object.keys(read.data), (type) => blocksOf("data", type));
    if (read.resource[name] !== undefined) return blocksOf("resource", name);
    throw new Error(`${name} is not defined in the module`);
  };

  /** @param {string} type @param {string} label @param {any} block */
  const instancesOf = (type, label, { count, for_each: each, depends_on: _, lifecycle: [lifecycle] = [], ...body }) => {
    /** @param {string} name @param {unknown} [value] @returns {Instance} */
    const instance = (name, value) => {
      const within = (/** @type {string} */ wanted) => (wanted === "each" ? { key: name, value } : scope(wanted));
      /** @type {Instance} */
      const made = {
        type,
        name,
        retained: lifecycle?.prevent_destroy === true,
        body: () => evaluate(body, within),
        attribute: (attribute) => symbol(made, attribute),
      };
      return made;
    };
    if (count !== undefined) return Array.from({ length: evaluate(count, scope) }, () => instance(label));
    if (each === undefined) return instance(label);
    const over = evaluate(each, scope);
    const pairs = Array.isArray(over) ? over.map((key) => [key, key]) : Object.entries(over);
    return Object.fromEntries(pairs.map(([key, value]) => [key, instance(key, value)]));
  };

  const refused = Object.values(read.variable).flatMap(([{ validation = [] }]) =>
    validation
      .filter((/** @type {any} */ { condition }) => evaluate(condition, scope) !== true)
      .map((/** @type {any} */ { error_message: message }) => message),
  );
  if (refused.length > 0) throw new Error(refused.join("\n"));
  const resources = Object.entries(read.resource).flatMap(([type, labels]) =>
    Object.keys(labels).flatMap((label) => {
      const found = blocksOf("resource", type)[label];
      return typeof found.body === "function" ? [found] : Object.values(found);
    }),
  );
  const outputs = Object.fromEntries(
    Object.entries(read.output).map(([name, [{ value }]]) => [name, evaluate(value, scope)]),
  );
  return { resources, outputs };
}
