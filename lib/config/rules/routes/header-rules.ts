import { error, type Finding, type Path } from "../../finding.ts";
import { formatProblem } from "../../format-commands.ts";
import type { HeaderOperations, Headers } from "../../kinds/virtual-service.ts";
import { isToken } from "../names.ts";

const pseudoHeaders: ReadonlySet<string> = new Set([":method", ":scheme", ":authority", ":path", ":status"]);
const claimKey = /^@request\.auth\.claims(?:(?:\.[^.[\]]+)+|(?:\[[^[\]]+\])+)$/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that a header value must not have
const controls = /[\u0000-\u0008\u000a-\u001f\u007f]/;

/** `@request.auth.claims.a.b` or `@request.auth.claims[a][b]`: routing on a verified token. */
export function isJwtClaimKey(name: string): boolean {
  return claimKey.test(name);
}

/** Name of a header in a match. */
export function* headerNameRules(name: string, path: Path): Generator<Finding> {
  if (name === "") yield error(path, "a header name must not be empty");
  else if (name.toLowerCase().startsWith("@request.auth.claims")) {
    if (!isJwtClaimKey(name))
      yield error(path, `${JSON.stringify(name)} names no claim`, "write @request.auth.claims[a][b]");
  } else if (!pseudoHeaders.has(name) && !isToken(name)) {
    yield error(path, `${JSON.stringify(name)} is not a header name`);
  }
}

/** `:authority` and `host` may be set and added on requests, and nowhere else. */
export function isAuthorityHeader(name: string): boolean {
  return name.toLowerCase() === ":authority" || name.toLowerCase() === "host";
}

export function* headersRules(headers: Headers | undefined, path: Path): Generator<Finding> {
  if (headers === undefined) return;
  yield* operationRules(headers.request, [...path, "request"], true);
  yield* operationRules(headers.response, [...path, "response"], false);
}

function* operationRules(operations: HeaderOperations | undefined, path: Path, request: boolean): Generator<Finding> {
  if (operations === undefined) return;
  for (const operation of ["set", "add"] as const) {
    for (const [name, value] of Object.entries(operations[operation] ?? {})) {
      yield* writableNameRules(name, [...path, operation, name], request);
      yield* headerValueRules(value, [...path, operation, name]);
    }
  }
  for (const [index, name] of (operations.remove ?? []).entries()) {
    yield* writableNameRules(name, [...path, "remove", index], false);
  }
}

function* writableNameRules(name: string, path: Path, authority: boolean): Generator<Finding> {
  if (name === "") yield error(path, "a header name must not be empty");
  else if (isAuthorityHeader(name)) {
    if (!authority) yield error(path, `${name} cannot be changed here`);
  } else if (name.startsWith(":")) yield error(path, `${name} cannot be changed`);
}

/** Envoy's format strings: `%%`, `%NAME%`, `%NAME(arguments)%`. */
export function* headerValueRules(value: string, path: Path): Generator<Finding> {
  if (controls.test(value)) yield error(path, "has control characters");
  const problem = formatProblem(value);
  if (problem !== undefined) yield error(path, `${JSON.stringify(value)} ${problem}`, "write %% for a percent sign");
}
