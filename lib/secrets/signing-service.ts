/** How a key management service signs: the hash of the message is made there, and no key leaves it. */
export type SigningAlgorithm = "ECDSA_SHA_256" | "ECDSA_SHA_384" | "RSASSA_PKCS1_V1_5_SHA_256";

/** A key that signs, and stays where it is. */
export interface SigningService {
  /** DER of a SubjectPublicKeyInfo. @throws PortolanError when the service does not give it */
  publicKey(): Promise<Uint8Array<ArrayBuffer>>;
  /**
   * @param message of 4,096 bytes at most
   * @returns the signature; of ECDSA in DER
   * @throws PortolanError when the service does not sign, for now or for good
   */
  sign(message: Uint8Array<ArrayBuffer>, algorithm: SigningAlgorithm): Promise<Uint8Array<ArrayBuffer>>;
}
