import { mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { Option } from "commander";
import { fileTrouble, isFileAbsent } from "../../base/cause-text.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import type { Trust } from "../../snapshot/head/signatures.ts";
import { isSigningJwk, type KeyUse, type SigningJwk } from "../../snapshot/head/signing-keys.ts";

/** Private keys of an operator, in one file that is nobody else's to read. Of each use the first key signs. */
export interface Keyring {
  readonly keys: readonly SigningJwk[];
}

export const keyringOption = (): Option =>
  new Option("--keyring <file>", "file with the private keys").env("PORTOLAN_KEYRING").default(".portolan/keys.json");

/**
 * No keys where the file does not exist.
 *
 * @throws PortolanError when others may read the file, it cannot be read, or it holds something else: without its keys HEAD would
 *   be written unsigned, and read without a check
 */
export async function readKeyring(file: string): Promise<Keyring> {
  const found = await stat(file).catch((cause: unknown) => {
    if (isFileAbsent(cause)) return undefined;
    throw new PortolanError(`cannot read the keyring ${file}: ${fileTrouble(cause)}`, [], cause);
  });
  if (found === undefined) return { keys: [] };
  if (found.isDirectory()) throw new PortolanError(`${file} is a folder, and the keyring is a file`);
  if ((found.mode & 0o077) !== 0 && process.platform !== "win32")
    throw new PortolanError(`${file} holds private keys, and others may read it: chmod 600 ${file}`);
  try {
    const json: unknown = JSON.parse(await readFile(file, "utf8"));
    const keys = typeof json === "object" && json !== null && "keys" in json ? json.keys : undefined;
    if (Array.isArray(keys) && keys.every(isSigningJwk)) return { keys };
  } catch {
    // Said below.
  }
  throw new PortolanError(`${file} is no keyring`);
}

/** Replaces the file as a whole. */
export async function writeKeyring(file: string, keyring: Keyring): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writePrivately(file, `${JSON.stringify(keyring, undefined, 2)}\n`);
}

/** Writes a file that is nobody else's to read, so that whoever watches it sees the old one or the new one. */
export async function writePrivately(file: string, text: string): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`;
  await writeFile(temporary, text, { mode: 0o600 });
  await rename(temporary, file);
}

export const keysFor = ({ keys }: Keyring, use: KeyUse): readonly SigningJwk[] =>
  keys.filter(({ portolan }) => portolan === use);

/** The key that signs for a use. @throws PortolanError when there is none */
export function signerFor(keyring: Keyring, use: KeyUse): SigningJwk {
  const [first] = keysFor(keyring, use);
  if (first === undefined) throw new PortolanError(`there is no key for ${use}: \`portolan keys create --use ${use}\``);
  return first;
}

/** What a keyring makes of HEAD: its first key for roots signs, and the HEAD that is read has to be signed with any of them. */
export async function trustOf(file: string): Promise<Trust> {
  const keys = keysFor(await readKeyring(file), "roots");
  const [signer] = keys;
  return signer === undefined ? {} : { signer, trusted: keys };
}
