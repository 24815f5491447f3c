import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fromBase64 } from "../../base/base64.ts";
import { fileTrouble, isFileAbsent } from "../../base/cause-text.ts";
import { errorsOf, PortolanError } from "../../base/diagnostic.ts";
import { fieldsOf } from "../../base/untyped.ts";
import type { AuthorityFiles } from "../../ca/import-signer.ts";
import { type ParsedObject, parseStream } from "../../config/documents/parse.ts";
import { isSecret } from "../../config/secrets/secret-objects.ts";
import { writtenFiles } from "../config/config-input.ts";

/** Names of the parts of a CA in Istio's `cacerts`, and in a Secret of type kubernetes.io/tls. */
const names = {
  certificate: ["ca-cert.pem", "tls.crt"],
  key: ["ca-key.pem", "tls.key"],
  chain: ["cert-chain.pem"],
  roots: ["root-cert.pem", "ca.crt"],
} as const;

/** The files of a folder that hold a CA. @param isKept whether a service keeps its key @throws PortolanError without a certificate or a key */
export async function authorityInFolder(folder: string, isKept: boolean): Promise<AuthorityFiles> {
  const read = async (file: string): Promise<readonly [string, string]> => {
    const path = join(folder, file);
    const text = await readFile(path, "utf8").catch((cause: unknown) => {
      if (isFileAbsent(cause)) return "";
      throw new PortolanError(`cannot read ${path}: ${fileTrouble(cause)}`, [], cause);
    });
    return [file, text];
  };
  return partsOf(new Map(await Promise.all(Object.values(names).flat().map(read))), folder, isKept);
}

/** The one Secret of files that holds a CA. @throws PortolanError for none, several, and one without a certificate or a key */
export async function authorityInSecret(filenames: readonly string[], isKept: boolean): Promise<AuthorityFiles> {
  const files = await writtenFiles(filenames);
  const read = files.map(({ file, text, under = "" }) => parseStream(text, { file: under + file }));
  const [secret, ...more] = read.flatMap(({ value }) => value.filter(isSecret));
  const wanted = "-f names one Secret: `cacerts`, or `istio-ca-secret` of an istiod that made its own CA";
  if (secret === undefined) {
    const problems = errorsOf(read.flatMap(({ diagnostics }) => diagnostics));
    throw new PortolanError(`${filenames.join(", ")} holds no Secret; ${wanted}`, problems);
  }
  if (more.length > 0) throw new PortolanError(`${placeOf(secret)} is not the only Secret; ${wanted}`);
  return partsOf(valuesOf(secret), placeOf(secret), isKept);
}

const placeOf = ({ origin: { file, line }, metadata: { name } }: ParsedObject): string =>
  `the Secret ${name} (${file}:${line})`;

/** @throws PortolanError for a value that is not in base64 */
function valuesOf(secret: ParsedObject): ReadonlyMap<string, string> {
  const { data, stringData } = secret;
  const decoded = Object.entries(fieldsOf(data)).map(([name, value]): readonly [string, string] => {
    const bytes = fromBase64(String(value));
    if (bytes === undefined)
      throw new PortolanError(`${placeOf(secret)}: data of ${JSON.stringify(name)} is not in base64`);
    return [name, new TextDecoder().decode(bytes)];
  });
  const plain = Object.entries(fieldsOf(stringData)).map(([name, value]) => [name, String(value)] as const);
  return new Map([...decoded, ...plain]);
}

function partsOf(values: ReadonlyMap<string, string>, where: string, isKept: boolean): AuthorityFiles {
  const first = (among: readonly string[]) => among.map((name) => values.get(name) ?? "").find((text) => text !== "");
  const certificate = first(names.certificate);
  const key = first(names.key);
  const missing = certificate === undefined ? "ca-cert.pem" : "ca-key.pem";
  if (certificate === undefined || (key === undefined && !isKept))
    throw new PortolanError(`${where} has no ${missing}`);
  return { certificate, key, chain: first(names.chain), roots: first(names.roots) };
}
