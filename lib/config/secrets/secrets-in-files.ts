/** What must not lie in a source, which is stored in clear text: Secrets, and secrets that stand in other objects. */

import { type Diagnostic, fileOrigin, type Origin } from "../../base/diagnostic.ts";
import { commentsIn } from "../documents/comments.ts";
import { type ObjectSource, type OtherText, type ParsedObject, parseStream } from "../documents/parse.ts";
import { at, error } from "../finding.ts";
import type { SourceFile } from "../folder/directory.ts";
import { inlineSecretRules, privateKeyRules } from "../rules/security/inline-secrets.ts";
import { keyIn, pemHeading } from "../rules/security/private-keys.ts";
import { holdsValues, isSecret, secretHint, secretRefused } from "./secret-objects.ts";
import { mayHoldSecret, suspicionIn } from "./secret-words.ts";

/** Which secrets are looked for. */
export interface SearchOptions {
  /** Whether a `jwks` may hold symmetric keys; `refuse` when absent. */
  readonly inlineSymmetricKeys?: "allow" | "refuse" | undefined;
}

/**
 * The secrets in files: one diagnostic for each Secret with values and each field that holds one, on its line; and one for each document that
 * cannot be read, and so cannot be searched, where a word in it may belong to a secret. None says anything of a secret itself.
 *
 * @returns `secret-in-source`, `inline-secret` and `inline-symmetric-key`
 */
export function secretsInFiles(files: readonly SourceFile[], options: SearchOptions = {}): readonly Diagnostic[] {
  return files.flatMap(({ file, text }) => {
    const { inObjects, inOthers, between } = secretsIn(file, text, options);
    return [...inObjects.flatMap(({ found }) => found), ...inOthers.flatMap(({ found }) => found), ...between];
  });
}

/** The secrets of a text, by what holds them. */
export interface FoundSecrets {
  readonly inObjects: readonly {
    readonly object: ParsedObject;
    readonly source: ObjectSource | undefined;
    readonly found: readonly Diagnostic[];
  }[];
  readonly inOthers: readonly { readonly other: OtherText; readonly found: readonly Diagnostic[] }[];
  /** Where nothing else holds any: in comments, and in fields that come twice. */
  readonly between: readonly Diagnostic[];
}

const none: FoundSecrets = { inObjects: [], inOthers: [], between: [] };

export function secretsIn(file: string, text: string, { inlineSymmetricKeys }: SearchOptions): FoundSecrets {
  if (!mayHoldSecret(text)) return none;
  const isSought = ({ code }: Diagnostic) => code !== "inline-symmetric-key" || inlineSymmetricKeys !== "allow";
  const { value, others, sourceOf } = parseStream(text, { file });
  const inObjects = value
    .map((object) => ({ object, source: sourceOf(object), found: secretsOf(object).filter(isSought) }))
    .filter(({ found }) => found.length > 0);
  const inOthers = others
    .map((other) => ({ other, source: other, found: secretsInOther(file, other).filter(isSought) }))
    .filter(({ found }) => found.length > 0);
  // What no reader sees is looked for when nothing else is found: its text is also that of what was found.
  const isClean = inObjects.length + inOthers.length === 0;
  return {
    inObjects: onTheirLines(inObjects),
    inOthers: onTheirLines(inOthers),
    between: isClean ? secretsBetween(file, text) : [],
  };
}

interface FoundIn {
  readonly source: ObjectSource | undefined;
  readonly found: readonly Diagnostic[];
}

/** What was found in fields, on the lines of the fields. Each document is gone through once, however many of its objects hold something. */
function onTheirLines<T extends FoundIn>(all: readonly T[]): readonly T[] {
  const sought = all.flatMap(({ source, found }) =>
    source === undefined ? [] : found.filter(({ path }) => path.length > 0).map((one) => ({ one, source })),
  );
  const lines = new Map<Diagnostic, number>();
  for (const [locator, some] of Map.groupBy(sought, ({ source }) => source.locator)) {
    const paths = some.map(({ one, source }) => [...source.path, ...one.path]);
    for (const [index, { line }] of locator.locateAll(paths).entries()) {
      const one = some[index]?.one;
      if (one !== undefined) lines.set(one, line);
    }
  }
  const onItsLine = (one: Diagnostic) => at({ ...one.origin, line: lines.get(one) ?? one.origin.line }, one);
  return all.map((one) => ({ ...one, found: one.found.map(onItsLine) }));
}

function secretsOf(object: ParsedObject): readonly Diagnostic[] {
  if (!isSecret(object)) return inlineSecretsOf(object);
  return holdsValues(object) ? [secretRefused(object)] : [];
}

/** Kinds that hold parts of Envoy's configuration as they are written. */
const envoyKinds: ReadonlySet<unknown> = new Set(["EnvoyFilter", "TrafficExtension", "WasmPlugin"]);

const rulesOf = (kind: unknown) => (envoyKinds.has(kind) ? inlineSecretRules : privateKeyRules);

function inlineSecretsOf(object: ParsedObject): readonly Diagnostic[] {
  const { origin, apiVersion: _version, kind: _kind, ...fields } = object;
  const findings = [...rulesOf(object.kind)(fields, [])];
  // An origin prints the name, which may be what was found.
  const isNamed = findings.some(({ path: [first, second] }) => first === "metadata" && second !== "annotations");
  const of = isNamed ? fileOrigin(origin.file, origin.line) : origin;
  return findings.map((finding) => at(of, finding));
}

/** Secrets in what is no object: the mesh's settings, an object without a name, or a document that cannot be read. */
function secretsInOther(file: string, other: OtherText): readonly Diagnostic[] {
  const origin = fileOrigin(file, other.line);
  if (other.read === undefined) {
    const { text, line } = other.document;
    const start = suspicionIn(text);
    if (start === undefined) return [];
    return [
      refused(
        fileOrigin(file, line + lineBreaks(text, start)),
        other.excess === undefined ? unsearched : `the document ${other.excess}; ${unsearched}`,
        "mend the document, so that it can be searched",
      ),
    ];
  }
  const { value } = other.read;
  if (kindOf(value) === "Secret") return [refused(origin, "a Secret would be stored in clear text")];
  const message = "a private key or another secret would be stored in clear text";
  return [...rulesOf(kindOf(value))(value, [])].map(({ path }) =>
    at(origin, error(path, message, secretHint, "secret-in-source")),
  );
}

const unsearched =
  "the document cannot be read, and a word in it may belong to a secret, which would be stored in clear text";

const kindOf = (value: unknown): unknown =>
  typeof value === "object" && value !== null && "kind" in value ? value.kind : undefined;

/** Secrets that a parser drops: in comments, and in fields that come twice. */
function secretsBetween(file: string, text: string): readonly Diagnostic[] {
  const commented = commentsIn(text).find(
    (comment) => keyIn(comment.text) !== undefined || isSecretWritten(comment.text),
  );
  const heading = text.search(pemHeading);
  const lines = [commented?.line ?? 0, heading < 0 ? 0 : 1 + lineBreaks(text, heading)].filter((line) => line > 0);
  if (lines.length === 0) return [];
  const message =
    "a Secret or a private key would be stored in clear text, in a comment or in a field that comes twice";
  return [refused(fileOrigin(file, Math.min(...lines)), message)];
}

/** A comment that is a Secret with values, once its marks are gone. */
const isSecretWritten = (comment: string): boolean =>
  /\bkind["']?\s*:\s*["']?Secret\b/.test(comment) && /\b(?:data|stringData)["']?\s*:/.test(comment);

const refused = (origin: Origin, message: string, hint = secretHint): Diagnostic =>
  at(origin, error([], message, hint, "secret-in-source"));

const lineBreaks = (text: string, end: number): number => text.slice(0, end).split("\n").length - 1;
