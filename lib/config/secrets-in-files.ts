/** What must not lie in a source, which is stored in clear text: Secrets, and secrets that stand in other objects. */
import type { Diagnostic } from "./diagnostic.ts";
import type { SourceFile } from "./directory.ts";
import { at, error } from "./finding.ts";
import { locateAll } from "./locate.ts";
import { type ParsedObject, parseStream, type SourceOf } from "./parse.ts";
import { inlineSecretRules, privateKeyRules } from "./rules/inline-secrets.ts";
import { isSecret, secretHint, secretRefused } from "./secret-objects.ts";

/** Words that a text has if it may hold a secret; texts without them, nearly all, are not read. Escapes could spell them otherwise. */
const mayHoldSecret = /Secret|EnvoyFilter|WasmPlugin|TrafficExtension|PRIVATE KEY|LS0tLS1CRUdJTi|"kty"|\\[ux]/;

/**
 * The secrets in files: one diagnostic for each Secret and each field that holds one, on its line.
 *
 * @returns `secret-in-source` and `inline-secret`
 */
export function secretsInFiles(files: readonly SourceFile[]): readonly Diagnostic[] {
  return files.flatMap(({ file, text }) => {
    if (!mayHoldSecret.test(text)) return [];
    const { value, diagnostics, sourceOf } = parseStream(text, { file });
    const inObjects = value.flatMap((object) =>
      isSecret(object) ? [secretRefused(object)] : inlineSecretsOf(object, sourceOf),
    );
    return inObjects.length > 0 || diagnostics.length === 0 ? inObjects : inUnreadable(file, text);
  });
}

/** Kinds that hold parts of Envoy's configuration as they are written. */
const envoyKinds: ReadonlySet<string> = new Set(["EnvoyFilter", "TrafficExtension", "WasmPlugin"]);

function inlineSecretsOf(object: ParsedObject, sourceOf: SourceOf): readonly Diagnostic[] {
  const { origin, apiVersion: _version, kind: _kind, ...fields } = object;
  const findings = [...(envoyKinds.has(object.kind) ? inlineSecretRules : privateKeyRules)(fields, [])];
  if (findings.length === 0) return [];
  const source = sourceOf(object);
  const positions =
    source === undefined
      ? []
      : locateAll(
          source.document,
          findings.map(({ path }) => [...source.path, ...path]),
        );
  return findings.map((finding, index) => at({ ...origin, line: positions[index]?.line ?? origin.line }, finding));
}

/** A Secret or a private key in a text that is no objects: the mesh's settings, or a document that is broken. */
function inUnreadable(file: string, text: string): readonly Diagnostic[] {
  const start = text.search(/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----|\bkind["']?\s*:\s*["']?Secret\b/);
  if (start < 0) return [];
  const origin = {
    key: { group: "", kind: "", name: "", namespace: "" },
    file,
    line: text.slice(0, start).split("\n").length,
  };
  return [
    at(origin, error([], "a Secret or a private key would be stored in clear text", secretHint, "secret-in-source")),
  ];
}
