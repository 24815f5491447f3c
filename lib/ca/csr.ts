import { pemBlocks } from "./authority.ts";
import { Pkcs10CertificateRequest, type PublicKey } from "./x509.ts";

/** Most characters of a certificate signing request. One for RSA with 4096 bits has 1,700. */
const maxLength = 16 * 1024;

/** The public key of a request whose sender has its private key, or what is wrong with the request. */
export type ReadCsr =
  | { readonly kind: "read"; readonly publicKey: PublicKey; readonly keyType: string }
  | { readonly kind: "refused"; readonly reason: string };

/**
 * Reads a certificate signing request. Of its content only the public key counts: names in it are not looked at.
 *
 * @param pem PKCS #10 in PEM
 */
export async function readCsr(pem: string): Promise<ReadCsr> {
  if (pem.length > maxLength) return refused(`the CSR is longer than ${maxLength} characters`);
  const [block, ...more] = [...pemBlocks(pem, "CERTIFICATE REQUEST"), ...pemBlocks(pem, "NEW CERTIFICATE REQUEST")];
  if (block === undefined || more.length > 0) return refused("csr is not one CERTIFICATE REQUEST in PEM");
  try {
    const csr = new Pkcs10CertificateRequest(block);
    const keyType = keyTypeOf(csr.publicKey.algorithm);
    if (keyType === undefined)
      return refused(
        "the key of the CSR is neither ECDSA (P-256, P-384) nor RSA with 2048 to 4096 bits and an odd exponent above 1",
      );
    // WebCrypto verifies SHA-1 too, which nothing that is signed today uses.
    if (hashOf(csr.signatureAlgorithm) === "SHA-1") return refused("the CSR is signed with SHA-1: use SHA-256");
    if (!(await csr.verify())) return refused("the CSR is not signed with the key in it");
    return { kind: "read", publicKey: csr.publicKey, keyType };
  } catch {
    // The library's messages quote bytes of the request.
    return refused("the CSR cannot be read");
  }
}

const refused = (reason: string): ReadCsr => ({ kind: "refused", reason });

const curves: ReadonlySet<unknown> = new Set(["P-256", "P-384"]);

/** `P-256`, `RSA 2048`; undefined for a key that gets no certificate. */
export function keyTypeOf(algorithm: object): string | undefined {
  const { name, namedCurve, modulusLength, publicExponent }: Partial<Record<string, unknown>> = { ...algorithm };
  if ((name === "ECDSA" || name === "ECDH") && curves.has(namedCurve)) return String(namedCurve);
  if (name !== "RSASSA-PKCS1-v1_5" || typeof modulusLength !== "number") return undefined;
  if (!(publicExponent instanceof Uint8Array) || !isStrongExponent(publicExponent)) return undefined;
  return modulusLength >= 2048 && modulusLength <= 4096 ? `RSA ${modulusLength}` : undefined;
}

/**
 * Whether anybody but the key's holder is kept from signing with it: with 1 a signature is its own message, and an even number has no
 * inverse. More than four bytes stand in no key of a program.
 *
 * @param bytes big-endian
 */
function isStrongExponent(bytes: Uint8Array): boolean {
  const exponent = bytes.length > 5 ? 0 : bytes.reduce((value, byte) => value * 256 + byte, 0);
  return exponent >= 3 && exponent < 2 ** 32 && exponent % 2 === 1;
}

function hashOf(algorithm: object): unknown {
  const { hash }: Partial<Record<string, unknown>> = { ...algorithm };
  return typeof hash === "object" && hash !== null && "name" in hash ? hash.name : hash;
}
