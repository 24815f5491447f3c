import { createPrivateKey, X509Certificate } from "node:crypto";
import { fromBase64, toBase64 } from "../../base/base64.ts";
import { type Diagnostic, PortolanError } from "../../base/diagnostic.ts";
import { fieldsOf, isFields, jsonIn } from "../../base/untyped.ts";
import type { ParsedObject } from "../../config/documents/parse.ts";
import { at, error, type Finding, warning } from "../../config/finding.ts";
import { pullSecretValue, type TlsSecret, valueNames, valueOf } from "../../secrets/tls-secret.ts";

/** A Secret as a proxy can use it, or what is wrong with it. */
export interface ReadSecret {
  readonly namespace: string;
  readonly name: string;
  readonly secret: TlsSecret;
  readonly diagnostics: readonly Diagnostic[];
}

const known: ReadonlySet<string> = new Set([...Object.values(valueNames).flat(), pullSecretValue]);

/**
 * Reads a Kubernetes Secret: the values that proxies use, checked as far as they can be.
 *
 * @returns errors for a pair that does not fit together or cannot be read; a warning for a certificate that is over
 */
export function readSecret(object: ParsedObject, defaultNamespace: string, nowMs: number): ReadSecret {
  const { origin, metadata, data, stringData } = object;
  const values: Record<string, string> = {};
  const findings: Finding[] = [];
  for (const [name, value] of entries(data)) {
    if (!known.has(name)) continue;
    const bytes = fromBase64(value);
    if (bytes === undefined) findings.push(invalid(["data", name], "is no base64"));
    else values[name] = toBase64(bytes);
  }
  for (const [name, value] of entries(stringData)) {
    if (known.has(name)) values[name] = toBase64(new TextEncoder().encode(value));
  }
  const secret: TlsSecret = { values };
  findings.push(...(findings.length > 0 ? [] : pairFindings(secret, nowMs)));
  const { name, namespace = defaultNamespace } = metadata;
  return { name, namespace, secret, diagnostics: findings.map((finding) => at(origin, finding)) };
}

/** Whether a Secret has no values at all, as before a controller fills it. */
export const isEmptySecret = ({ data, stringData }: ParsedObject): boolean =>
  [data, stringData].every((values) => Object.keys(fieldsOf(values)).length === 0);

export const nothingToStore = ({ origin }: ParsedObject): Diagnostic =>
  at(origin, warning([], "has no values: nothing is stored for it", "fill it, and apply it again"));

function entries(value: unknown): readonly (readonly [string, string])[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, text]) => (typeof text === "string" ? [[name, text] as const] : []));
}

/** Messages say what is wrong with a value, and never hold any of it. */
function* pairFindings(secret: TlsSecret, nowMs: number): Generator<Finding> {
  const [chain, key, ca] = [valueOf(secret, "certificate"), valueOf(secret, "privateKey"), valueOf(secret, "ca")];
  const pull = secret.values[pullSecretValue];
  if (pull !== undefined) {
    const bytes = fromBase64(pull);
    const read = bytes === undefined ? undefined : jsonIn(new TextDecoder().decode(bytes));
    if (!isFields(fieldsOf(read).auths))
      yield invalid(
        ["data", pullSecretValue],
        "is not a Docker configuration",
        'it is JSON: {"auths": {REGISTRY: ...}}',
      );
  }
  if (chain === undefined && key === undefined && ca === undefined) {
    if (pull !== undefined) return;
    yield invalid(
      [],
      "has no certificate, key or CA for a proxy, and no registry credentials",
      `known are ${[...known].join(", ")}`,
    );
    return;
  }
  if ((chain === undefined) !== (key === undefined))
    yield invalid([], "has a certificate without a key, or a key without a certificate");
  const certificate = chain === undefined ? undefined : certificateOf(chain);
  const privateKey = key === undefined ? undefined : privateKeyOf(key);
  if (chain !== undefined && certificate === undefined)
    yield invalid(["data"], "the certificate cannot be read as PEM");
  if (key !== undefined && privateKey === undefined)
    yield invalid(["data"], "the private key cannot be read as PEM", "remove its passphrase, if it has one");
  if (certificate !== undefined && privateKey !== undefined && !certificate.checkPrivateKey(privateKey))
    yield invalid(["data"], "the private key is not the certificate's");
  if (ca !== undefined && certificateOf(ca) === undefined) yield invalid(["data"], "the CA cannot be read as PEM");
  if (certificate !== undefined && Date.parse(certificate.validTo) < nowMs)
    yield warning(["data"], `the certificate expired at ${certificate.validTo}`);
}

const invalid = (path: Finding["path"], message: string, hint = ""): Finding => error(path, message, hint);

function certificateOf(base64: string): X509Certificate | undefined {
  try {
    return new X509Certificate(Buffer.from(base64, "base64"));
  } catch {
    return undefined;
  }
}

function privateKeyOf(base64: string): ReturnType<typeof createPrivateKey> | undefined {
  try {
    return createPrivateKey(Buffer.from(base64, "base64"));
  } catch {
    return undefined;
  }
}

/** @throws PortolanError with the diagnostics when a Secret has errors: nothing is half applied */
export function refuseErrors(secrets: readonly ReadSecret[]): void {
  const all = secrets.flatMap(({ diagnostics }) => diagnostics);
  if (all.some(({ severity }) => severity === "error")) throw new PortolanError("no secret was stored", all);
}
