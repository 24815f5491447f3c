/** What a reader says that it holds of a type, by the nonce of its last answer. */
export interface HeldVersion {
  /** Of the whole type. */
  readonly version: string;
  /** Hash of the root that it was served from; undefined where the reader does not say. */
  readonly root: string | undefined;
}

/** The nonce of an answer: any front can tell from it what its reader has, and no front has to remember that. */
export const nonceOf = (version: string, root: string): string => `${version}.${root}`;

const nonceForm = /^([^.]*)\.([0-9a-f]{64})$/;

/** @param nonce one of a front, or a version alone */
export function readNonce(nonce: string): HeldVersion {
  const [, version = nonce, root] = nonceForm.exec(nonce) ?? [];
  return { version, root };
}
