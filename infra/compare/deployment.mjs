// The form in which the CDK's template and the Terraform module are compared: CloudFormation's properties by kind and name, without
// generated names, as in `{ "Function Front": { MemorySize: 512, … } }`. Unknown types, arguments and parts of policies throw.

/** @typedef {Record<string, any>} Properties */
/** @typedef {Record<string, Properties>} Deployment properties by kind and name, and `Outputs` */

/** `dead_letters` and `dead-letters` as `DeadLetters`. @param {string} name */
export const pascal = (name) => name.replace(/(?:^|[_-])([a-z])/g, (_, letter) => letter.toUpperCase());

/** The string that stands for an attribute of a resource, the same for template and module. */
export const symbolOf = (/** @type {string} */ kind, /** @type {string} */ name, /** @type {string} */ attribute) =>
  `<${kind} ${name}.${attribute}>`;

/** The name of the resource in a string of `symbolOf`. @param {string} symbol */
export const namedIn = (symbol) => /^<\w+ (\w+)\.\w+>$/.exec(symbol)?.[1] ?? fail(`${symbol} names no resource`);

/** @param {string} message @returns {never} */
export const fail = (message) => {
  throw new Error(message);
};

const listOf = (/** @type {unknown} */ value) => [value].flat();

/**
 * A policy as one line for each effect, principal, action, resource and condition, sorted. Their grouping into statements has no effect.
 *
 * @param {{ Version: string, Statement: any[] }} document
 * @returns {string[]}
 */
export function linesOf({ Version: version, Statement: statements }) {
  if (version !== "2012-10-17") fail(`a policy of the version ${version}`);
  const lines = statements.flatMap(({ Sid: _, Effect, Principal = {}, Action, Resource = "", Condition, ...more }) => {
    if (Object.keys(more).length > 0) fail(`a statement with ${Object.keys(more)}, which is not compared`);
    const principals =
      typeof Principal === "string"
        ? [Principal]
        : Object.entries(Principal).flatMap(([type, names]) => listOf(names).map((name) => `${type} ${name}`));
    return (principals.length === 0 ? [""] : principals).flatMap((principal) =>
      listOf(Action).flatMap((action) =>
        listOf(Resource).map((resource) =>
          [Effect, principal, action, resource, sorted(Condition)].filter((part) => part).join(" "),
        ),
      ),
    );
  });
  return [...new Set(lines)].sort();
}

/** JSON with sorted names. @param {any} value @returns {string} */
const sorted = (value) =>
  JSON.stringify(value, (_, part) =>
    part !== null && typeof part === "object" && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );

/**
 * Adds properties to a resource: Terraform has some of them in resources of their own. Lists are joined and sorted.
 *
 * @param {Deployment} deployment
 * @param {string} key
 * @param {Properties} properties
 */
export function add(deployment, key, properties) {
  deployment[key] ??= {};
  const known = deployment[key];
  for (const [name, value] of Object.entries(properties))
    if (value === undefined) continue;
    else if (Array.isArray(value) && Array.isArray(known[name]))
      known[name] = [...known[name], ...value].sort((a, b) => (sorted(a) < sorted(b) ? -1 : 1));
    else if (known[name] === undefined) known[name] = value;
    else fail(`${key} has two of ${name}`);
}
