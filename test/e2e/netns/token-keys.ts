import { exportJWK, generateKeyPair, SignJWT } from "jose";

/** Keys of an issuer, and tokens that are signed with them. */
export async function tokenKeys() {
  const { publicKey, privateKey } = await generateKeyPair("RS256");
  const jwk = { ...(await exportJWK(publicKey)), alg: "RS256", kid: "k" };
  const token = (by: string, subject: string, audience: string, more: Readonly<Record<string, unknown>> = {}) =>
    new SignJWT(more)
      .setProtectedHeader({ alg: "RS256", kid: "k" })
      .setIssuer(by)
      .setSubject(subject)
      .setAudience(audience)
      .setIssuedAt()
      .setExpirationTime("1h")
      .sign(privateKey);
  return { keys: { keys: [jwk] }, token };
}
