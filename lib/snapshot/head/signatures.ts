/**
 * Signed HEADs. HEAD names roots and the history by their hashes, a root's hash covers everything that it reaches, and readers
 * compare every blob with its name: so one signature vouches for all that can be served. It covers the generation too, by
 * which a reader knows an older HEAD that somebody has put back; a rollback is a new HEAD, with a signature of its own.
 */
import { PortolanError } from "../../base/diagnostic.ts";
import type { Head } from "../root.ts";
import { isSignedWith, type SigningJwk, signWith } from "./signing-keys.ts";

/** Who vouches for HEAD, and whose word is taken. */
export interface Trust {
  /** Private key that signs HEAD. */
  readonly signer?: SigningJwk;
  /** Keys of which one must have signed the HEAD that is read; absent: any is taken. */
  readonly trusted?: readonly SigningJwk[];
}

/** Says what is signed, so that a signature over something else is never one over a HEAD. */
const messageOf = ({ signatures: _signatures, ...head }: Head) =>
  new TextEncoder().encode(`portolan head 1\n${JSON.stringify(head)}\n`);

/** A HEAD with its signature, in place of any that it had. */
export async function signHead(signer: SigningJwk, head: Head): Promise<Head> {
  const value = await signWith(signer, messageOf(head));
  return { ...head, signatures: [{ key: signer.kid, value }] };
}

/** Whether any of the trusted keys has signed a HEAD. */
export async function isSigned(trusted: readonly SigningJwk[], head: Head): Promise<boolean> {
  const message = messageOf(head);
  for (const { key, value } of head.signatures ?? []) {
    const known = trusted.find(({ kid }) => kid === key);
    if (known !== undefined && (await isSignedWith(known, message, value))) return true;
  }
  return false;
}

/** @throws PortolanError when keys are asked for, and none of them has signed */
export async function needSigned(trusted: readonly SigningJwk[] | undefined, head: Head): Promise<Head> {
  if (trusted === undefined || (await isSigned(trusted, head))) return head;
  throw new PortolanError(
    `HEAD of generation ${head.generation} is signed with none of the trusted keys; \`portolan status\` shows it, \`portolan sign\` vouches for it`,
  );
}
