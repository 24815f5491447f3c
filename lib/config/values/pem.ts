import { createPrivateKey, X509Certificate } from "node:crypto";

/** One block of a PEM text. */
interface PemBlock {
  /** `CERTIFICATE`, `RSA PRIVATE KEY`. */
  readonly type: string;
  readonly text: string;
}

const boundary = /-----(BEGIN|END) ([^\n-]+)-----/g;

/** Each block from its first line to the first end of the same type; a beginning without such an end is passed over. */
function blocksOf(text: string): readonly PemBlock[] {
  const found = [...text.matchAll(boundary)].map(({ 0: { length }, 1: side, 2: type = "", index }) => {
    return { isBegin: side === "BEGIN", type, at: index, end: index + length };
  });
  const ends = Map.groupBy(found.filter(({ isBegin }) => !isBegin).reverse(), ({ type }) => type);
  const blocks: PemBlock[] = [];
  let next = 0;
  for (const { isBegin, type, at, end } of found) {
    if (!isBegin || at < next || !/^\r?\n/.test(text.slice(end, end + 2))) continue;
    const left = ends.get(type) ?? [];
    while ((left.at(-1)?.at ?? end) < end) left.pop();
    const last = left.pop();
    if (last === undefined) continue;
    next = last.end;
    blocks.push({ type, text: text.slice(at, next) });
  }
  return blocks;
}

/**
 * What is wrong with a certificate and its key, in Go's words, which Istio's conditions repeat; "" for nothing.
 * @see https://pkg.go.dev/crypto/tls#X509KeyPair
 */
export function keyPairProblem(certificate: string, privateKey: string): string {
  const certificates = blocksOf(certificate);
  const leaf = certificates.find(({ type }) => type === "CERTIFICATE");
  if (leaf === undefined) {
    if (certificates.length === 0) return "tls: failed to find any PEM data in certificate input";
    if (certificates.length === 1 && certificates[0]?.type.endsWith("PRIVATE KEY") === true) {
      return "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched";
    }
    return `tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [${typesOf(certificates)}]`;
  }
  const keys = blocksOf(privateKey);
  const key = keys.find(({ type }) => type === "PRIVATE KEY" || type.endsWith(" PRIVATE KEY"));
  if (key === undefined) {
    if (keys.length === 0) return "tls: failed to find any PEM data in key input";
    if (keys.length === 1 && keys[0]?.type === "CERTIFICATE") {
      return "tls: found a certificate rather than a key in the PEM for the private key";
    }
    return `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [${typesOf(keys)}]`;
  }
  return parsingProblem(leaf.text, key.text);
}

const typesOf = (blocks: readonly PemBlock[]): string => blocks.map(({ type }) => type).join(" ");

function parsingProblem(certificate: string, privateKey: string): string {
  let leaf: X509Certificate;
  try {
    leaf = new X509Certificate(certificate);
  } catch {
    return "x509: malformed certificate";
  }
  try {
    return leaf.checkPrivateKey(createPrivateKey(privateKey)) ? "" : "tls: private key does not match public key";
  } catch {
    return "tls: failed to parse private key";
  }
}

/** Names under which certificates to check others against stand, the first of them first. */
const rootNames = ["cacert", "ca.crt"] as const;

/** What is wrong with the certificates to check others against that an object holds; "" for nothing. */
export function rootProblemOf(data: Readonly<Record<string, string>>): string {
  const name = rootNames.find((one) => (data[one] ?? "") !== "");
  if (name !== undefined) return holdsCertificate(data[name] ?? "") ? "" : "the bundle is malformed";
  const empty = rootNames.find((one) => data[one] !== undefined);
  if (empty !== undefined) return `found key "${empty}", but it was empty`;
  return `found secret, but didn't have expected keys cacert or ca.crt; found: ${someNames(data)}`;
}

/** Whether a text holds a certificate that can be read. */
function holdsCertificate(text: string): boolean {
  return blocksOf(text).some(({ type, text: pem }) => {
    if (type !== "CERTIFICATE") return false;
    try {
      return new X509Certificate(pem).raw.length > 0;
    } catch {
      return false;
    }
  });
}

/** The first three names of a map, and how many more there are. */
export function someNames(map: object): string {
  const names = Object.keys(map).sort();
  return names.length < 3 ? names.join(", ") : `${names.slice(0, 3).join(", ")}, and ${names.length - 3} more...`;
}
