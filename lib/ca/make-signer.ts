import type { KeyServices } from "../secrets/wrapping-keys.ts";
import { normalPem, type Signer } from "./authority.ts";
import { serialNumber, signCertificate } from "./issue.ts";
import { newKey } from "./new-key.ts";
import { keptElsewhere, signingBy } from "./signing-key.ts";
import {
  BasicConstraintsExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  Name,
  SubjectKeyIdentifierExtension,
} from "./x509.ts";

/** How long a root that is made here is valid, as istiod's own. */
const rootDays = 3_650;

/** A key that a service keeps, in place of a new one. */
export interface KeptKey {
  /** `aws-kms:` and the ARN or alias of a key that signs. */
  readonly name: string;
  readonly services: KeyServices;
}

/**
 * A new CA that is its own root, for ten years: ECDSA with P-256, or of the kind of the key that a service keeps.
 *
 * @throws PortolanError when the service does not sign
 */
export async function makeSigner(trustDomain: string, nowMs: number, kept?: KeptKey): Promise<Signer> {
  const { publicKey, signing, key } = kept === undefined ? await newSigning() : await keptSigning(kept);
  const name = new Name([{ O: [trustDomain] }]);
  const made = await signCertificate(signing, {
    serialNumber: serialNumber(),
    subject: name,
    issuer: name,
    notBefore: new Date(nowMs),
    notAfter: new Date(nowMs + rootDays * 24 * 3_600_000),
    publicKey,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(publicKey),
    ],
  });
  const certificate = normalPem(made.toString("pem"));
  return { certificate, key, intermediates: [], roots: [certificate], trustedSinceMs: nowMs };
}

async function newSigning() {
  const { publicKey, privateKey, pem } = await newKey();
  const algorithm = { name: "ECDSA", hash: "SHA-256", namedCurve: "P-256" } as const;
  return { publicKey, signing: signingBy(privateKey, algorithm), key: pem };
}

const keptSigning = async ({ name, services }: KeptKey) => ({ ...(await keptElsewhere(name, services)), key: name });
