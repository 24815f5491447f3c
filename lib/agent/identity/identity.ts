import { createPrivateKey, X509Certificate } from "node:crypto";
import type { JsonRecord } from "../../base/classifier.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { recordOf } from "../record-of.ts";

/** What a workload proves who it is with, in PEM. */
export interface Identity {
  /** Its certificate, then those between it and a root. */
  readonly certificate: string;
  readonly key: string;
  /** Roots that others' certificates are held against. */
  readonly roots: string;
}

/** A checked identity, and until when it is good. */
export interface GoodIdentity {
  readonly identity: Identity;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

/**
 * Looks whether an identity is one: that it can be read, that key and certificate belong together, and that it is not over.
 *
 * @throws PortolanError that says what is wrong, and quotes no key
 */
export function checkIdentity(identity: Identity, nowMs: number): GoodIdentity {
  const certificate = reading("the certificate", () => new X509Certificate(identity.certificate));
  reading("the roots", () => new X509Certificate(identity.roots));
  const key = reading("the key", () => createPrivateKey(identity.key));
  if (!certificate.checkPrivateKey(key)) throw new PortolanError("the key is not that of the certificate");
  const notAfterMs = Date.parse(certificate.validTo);
  if (notAfterMs <= nowMs) throw new PortolanError(`the certificate was good until ${certificate.validTo}`);
  return { identity, notBeforeMs: Date.parse(certificate.validFrom), notAfterMs };
}

function reading<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch {
    throw new PortolanError(`${what} cannot be read as PEM`);
  }
}

/**
 * Reads what a command has printed: JSON with `certificate`, `key` and `roots`; what `vault write -format=json pki/issue/…` prints; or
 * what `spire-agent api fetch x509 -output json` prints.
 *
 * @throws PortolanError for anything else
 */
export function identityIn(text: string): Identity {
  const json = parsed(text);
  const { certificate, key, roots } = json;
  if (areTexts(certificate, key, roots)) return { certificate: `${certificate}`, key: `${key}`, roots: `${roots}` };
  const data = recordOf(json.data);
  if (areTexts(data.certificate, data.private_key, data.issuing_ca)) {
    const chain = Array.isArray(data.ca_chain) ? data.ca_chain.filter((one) => typeof one === "string") : [];
    const root = chain.at(-1) ?? data.issuing_ca;
    const between = chain.length > 1 ? chain.slice(0, -1) : [];
    return {
      certificate: [data.certificate, ...between].join("\n"),
      key: `${data.private_key}`,
      roots: `${root}`,
    };
  }
  const [svid] = Array.isArray(json.svids) ? json.svids.map(recordOf) : [];
  if (svid !== undefined && areTexts(svid.x509_svid, svid.x509_svid_key, svid.bundle)) {
    return {
      certificate: pemOf("CERTIFICATE", `${svid.x509_svid}`),
      key: pemOf("PRIVATE KEY", `${svid.x509_svid_key}`),
      roots: pemOf("CERTIFICATE", `${svid.bundle}`),
    };
  }
  throw new PortolanError(
    "it printed no identity: JSON with certificate, key and roots is wanted, or what Vault or SPIRE print",
  );
}

const areTexts = (...values: readonly unknown[]): boolean =>
  values.every((value) => typeof value === "string" && value !== "");

/** DER of one or several objects, one after the other, in base64; PEM is left as it is. */
function pemOf(label: string, base64: string): string {
  if (base64.includes("-----BEGIN")) return base64;
  const bytes = Buffer.from(base64, "base64");
  const blocks: string[] = [];
  for (let at = 0; at + 2 <= bytes.length; ) {
    const length = derLength(bytes, at);
    const body = bytes
      .subarray(at, at + length)
      .toString("base64")
      .replace(/(.{64})/g, "$1\n")
      .trimEnd();
    blocks.push(`-----BEGIN ${label}-----\n${body}\n-----END ${label}-----\n`);
    at += length;
  }
  return blocks.join("");
}

/** Length of a DER object with its head; all that is left where it says no length of two to four bytes, or a short one. */
function derLength(bytes: Buffer, at: number): number {
  const first = bytes[at + 1] ?? 0;
  if (first < 0x80) return 2 + first;
  const count = first - 0x80;
  return count > 4 || at + 2 + count > bytes.length ? bytes.length - at : 2 + count + bytes.readUIntBE(at + 2, count);
}

function parsed(text: string): JsonRecord {
  try {
    return recordOf(JSON.parse(text));
  } catch {
    return {};
  }
}
