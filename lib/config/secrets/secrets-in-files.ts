/** What must not lie in a source, which is stored in clear text: Secrets, and secrets that stand in other objects. */

import { type Diagnostic, fileOrigin, type Origin } from "../diagnostic.ts";
import { commentsIn } from "../documents/comments.ts";
import { type ObjectSource, type OtherText, type ParsedObject, parseStream } from "../documents/parse.ts";
import { at, error, type Finding } from "../finding.ts";
import type { SourceFile } from "../folder/directory.ts";
import { inlineSecretRules, privateKeyRules } from "../rules/security/inline-secrets.ts";
import { keyIn, pemHeading } from "../rules/security/private-keys.ts";
import { isSecret, secretHint, secretRefused } from "./secret-objects.ts";
import { mayHoldSecret, suspicionIn } from "./secret-words.ts";

/**
 * The secrets in files: one diagnostic for each Secret and each field that holds one, on its line; and one for each document that
 * cannot be read, and so cannot be searched, where a word in it may belong to a secret. None says anything of a secret itself.
 *
 * @returns `secret-in-source` and `inline-secret`
 */
export function secretsInFiles(files: readonly SourceFile[]): readonly Diagnostic[] {
  return files.flatMap(({ file, text }) => {
    if (!mayHoldSecret(text)) return [];
    const { value, others, sourceOf } = parseStream(text, { file });
    const inDocuments = [
      ...value.flatMap((object) =>
        isSecret(object) ? [secretRefused(object)] : inlineSecretsOf(object, sourceOf(object)),
      ),
      ...others.flatMap((other) => secretsInOther(file, other)),
    ];
    // What no reader sees is told of when all else is mended: its text is also that of what was found.
    return inDocuments.length > 0 ? inDocuments : secretsBetween(file, text);
  });
}

/** Kinds that hold parts of Envoy's configuration as they are written. */
const envoyKinds: ReadonlySet<unknown> = new Set(["EnvoyFilter", "TrafficExtension", "WasmPlugin"]);

const rulesOf = (kind: unknown) => (envoyKinds.has(kind) ? inlineSecretRules : privateKeyRules);

function inlineSecretsOf(object: ParsedObject, source: ObjectSource | undefined): readonly Diagnostic[] {
  const { origin, apiVersion: _version, kind: _kind, ...fields } = object;
  const findings = [...rulesOf(object.kind)(fields, [])];
  // An origin prints the name, which may be what was found.
  const isNamed = findings.some(({ path: [first, second] }) => first === "metadata" && second !== "annotations");
  return located(isNamed ? fileOrigin(origin.file, origin.line) : origin, findings, source);
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
        unsearched,
        "mend the document, so that it can be searched",
      ),
    ];
  }
  const { value } = other.read;
  if (kindOf(value) === "Secret") return [refused(origin, "a Secret would be stored in clear text")];
  const findings = [...rulesOf(kindOf(value))(value, [])].map(({ path }) =>
    error(path, "a private key or another secret would be stored in clear text", secretHint, "secret-in-source"),
  );
  return located(origin, findings, other);
}

const unsearched =
  "the document cannot be read, and a word in it may belong to a secret, which would be stored in clear text";

const kindOf = (value: unknown): unknown =>
  typeof value === "object" && value !== null && "kind" in value ? value.kind : undefined;

function located(
  origin: Origin,
  findings: readonly Finding[],
  source: ObjectSource | undefined,
): readonly Diagnostic[] {
  if (findings.length === 0) return [];
  const positions =
    source === undefined ? [] : source.locator.locateAll(findings.map(({ path }) => [...source.path, ...path]));
  return findings.map((finding, index) => at({ ...origin, line: positions[index]?.line ?? origin.line }, finding));
}

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
