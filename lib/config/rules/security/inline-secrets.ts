import { error, type Finding, type Path } from "../../finding.ts";
import { camelFieldName } from "../../read-spec.ts";
import { isPrivateJwk, isSymmetricKeySet, keyIn } from "./private-keys.ts";

/**
 * Fields of Envoy's API that hold a secret as a DataSource: in a file or a variable of the proxy's it is safe, inline it would be
 * published. A test compares them with what Envoy's protos annotate as `udpa.annotations.sensitive`.
 */
export const secretDataSources: ReadonlySet<string> = new Set([
  "authPassword",
  "authUsername",
  "downstreamAuthPassword",
  "downstreamAuthPasswords",
  "downstreamAuthUsername",
  "keys",
  "password",
  "pkcs12",
  "privateKey",
  "secret",
  "secretData",
  "users",
]);

/** Fields that hold a secret as a text. */
export const secretTexts: ReadonlySet<string> = new Set([
  "accessToken",
  "backendToken",
  "googleRefreshToken",
  "jsonKey",
  "refreshToken",
  "secretAccessKey",
  "sessionToken",
]);

const hint = "name it through SDS, or a file or an environment variable of the proxy";

/**
 * Private keys in PEM, and JSON Web Keys that are not public, anywhere in a value.
 *
 * @returns `inline-secret`, and `inline-symmetric-key` for a field `jwks` that holds nothing worse
 */
export function* privateKeyRules(value: unknown, path: Path): Generator<Finding> {
  yield* textRules(value, path, () => []);
}

/** The same for a key set that tokens are checked with. */
export function* keySetRules(jwks: string, path: Path): Generator<Finding> {
  if (isSymmetricKeySet(jwks)) yield symmetricKey(path);
  else yield* privateKeyRules(jwks, path);
}

/** Secrets in what Envoy is given as it is written: well-known fields, and private keys anywhere. */
export function* inlineSecretRules(value: unknown, path: Path): Generator<Finding> {
  yield* textRules(value, path, fieldRules);
}

type FieldRules = (name: string, value: unknown, path: Path) => Iterable<Finding>;

/** @param clean parts in which nothing was found: aliases may name one of them many times */
function* textRules(value: unknown, path: Path, rules: FieldRules, clean = new Set<object>()): Generator<Finding> {
  if (typeof value === "string") {
    const key = keyIn(value);
    if (key !== undefined) yield inlineSecret(path, `holds ${key}`);
    return;
  }
  if (typeof value !== "object" || value === null || clean.has(value)) return;
  let isClean = true;
  for (const finding of partRules(value, path, rules, clean)) {
    isClean = false;
    yield finding;
  }
  if (isClean) clean.add(value);
}

function* partRules(value: object, path: Path, rules: FieldRules, clean: Set<object>): Generator<Finding> {
  if (Array.isArray(value)) {
    for (const [index, element] of value.entries()) yield* textRules(element, [...path, index], rules, clean);
    return;
  }
  if (isPrivateJwk(value)) {
    yield inlineSecret(path, "is a JSON Web Key that is not public");
    return;
  }
  for (const [name, member] of Object.entries(value)) {
    // A path with the key in it would print it.
    if (keyIn(name) !== undefined) {
      yield inlineSecret(path, "holds a private key as the name of a field");
      continue;
    }
    const at = [...path, name];
    if (name === "jwks" && typeof member === "string") {
      yield* keySetRules(member, at);
      continue;
    }
    const found = [...rules(camelFieldName(name), member, at)];
    // A field that is a secret by its name is told of once.
    if (found.length > 0) yield* found;
    else yield* textRules(member, at, rules, clean);
  }
}

function* fieldRules(name: string, value: unknown, path: Path): Generator<Finding> {
  if (secretTexts.has(name) && typeof value === "string" && value !== "") yield inlineSecret(path, "is a secret");
  if (!secretDataSources.has(name)) return;
  const isList = Array.isArray(value);
  for (const [index, source] of (isList ? value : [value]).entries()) {
    const inline = inlineField(source);
    if (inline !== undefined) yield inlineSecret([...path, ...(isList ? [index] : []), inline], "is a secret");
  }
}

/** The field of a DataSource that holds its content. */
function inlineField(source: unknown): string | undefined {
  if (typeof source !== "object" || source === null) return undefined;
  const names = new Set(["inlineString", "inlineBytes"]);
  return Object.entries(source).find(([name, text]) => names.has(camelFieldName(name)) && text !== "")?.[0];
}

const inlineSecret = (path: Path, what: string): Finding =>
  error(path, `${what}, and this value is published to every proxy that the object applies to`, hint, "inline-secret");

const symmetricKey = (path: Path): Finding =>
  error(
    path,
    "holds a symmetric key: every reader of the store, and of any proxy that it applies to, can sign tokens with it",
    "have tokens signed by a key pair (RS256, ES256), and give its public key here or by jwksUri; to accept the risk for a folder, set `inlineSymmetricKeys: allow` in its portolan.yaml",
    "inline-symmetric-key",
  );
