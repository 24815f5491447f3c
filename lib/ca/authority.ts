/** A key that signs certificates, with the certificates that lead from it to the roots that workloads trust. */
export interface Signer {
  /** The CA's certificate, PEM. */
  readonly certificate: string;
  /** Private key of `certificate`: PKCS #8 in PEM, or `aws-kms:` and the name of a key that AWS KMS keeps. */
  readonly key: string;
  /** Certificates between `certificate` and a root, the nearest first; PEM each. The root is not among them. */
  readonly intermediates: readonly string[];
  /** Roots, PEM each. One of them is `certificate` itself where the CA is its own root. */
  readonly roots: readonly string[];
  /** When workloads began to be given its roots, in milliseconds since the epoch. */
  readonly trustedSinceMs: number;
}

/** The certificate authority of a mesh. One signer signs; the roots of all are given to workloads. */
export interface Authority {
  readonly version: 1;
  /** Trust domain of all identities, as in the mesh's configuration. */
  readonly trustDomain: string;
  readonly active: Signer;
  /** Signs after the next rotation; its roots are trusted already. */
  readonly next?: Signer;
  /** What the last rotation took away: nothing signs with it, and its roots are trusted until it is retired. */
  readonly previous?: PreviousSigner;
}

/** A signer without its key. */
export interface PreviousSigner extends Pick<Signer, "certificate" | "roots"> {
  /** When another one began to sign, in milliseconds since the epoch. */
  readonly replacedMs: number;
}

/** Every root that workloads are to trust, PEM each, those of the active signer first, each once. */
export function rootsOf({ active, next, previous }: Authority): readonly string[] {
  const all = [active, next, previous].flatMap((signer) => signer?.roots ?? []);
  return [...new Set(all.map(normalPem))];
}

/** PEM with one line break at its end, so that equal certificates are equal texts. */
export const normalPem = (pem: string): string => `${pem.trim().replaceAll("\r\n", "\n")}\n`;

/** The PEM blocks of a text that have a label, in order. */
export const pemBlocks = (text: string, label: string): readonly string[] =>
  [...text.matchAll(new RegExp(`-----BEGIN ${label}-----[A-Za-z0-9+/=\\s]+-----END ${label}-----`, "g"))].map(([pem]) =>
    normalPem(pem),
  );
