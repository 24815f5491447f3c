import { SignJWT } from "jose";
import type { SigningJwk } from "../../snapshot/head/signing-keys.ts";
import type { Caller } from "./caller.ts";

/** Issuer and audience of tokens of our own. */
export const tokenIssuer = "portolan";

/** What a token of our own lets its bearer be. */
export type TokenGrant =
  | { readonly scope: "operator" | "v1" }
  | {
      readonly scope: "node";
      readonly namespace: string;
      readonly serviceAccount?: string;
      /** Id of the cluster that the node runs in. */
      readonly clusterId?: string;
      readonly classes?: readonly string[];
    };

/** A token of our own: a JWT, signed with a private key for tokens. */
export function createToken(
  key: SigningJwk,
  grant: TokenGrant,
  { subject, nowMs, ttlSeconds }: { readonly subject: string; readonly nowMs: number; readonly ttlSeconds: number },
): Promise<string> {
  const nowSeconds = Math.floor(nowMs / 1000);
  return new SignJWT({ portolan: grant })
    .setProtectedHeader({ alg: "EdDSA", kid: key.kid, typ: "JWT" })
    .setIssuer(tokenIssuer)
    .setAudience(tokenIssuer)
    .setSubject(subject)
    .setIssuedAt(nowSeconds)
    .setExpirationTime(nowSeconds + ttlSeconds)
    .sign({ ...key });
}

/** What the payload of a token of our own makes of its bearer; undefined when it is none that this version knows. */
export function callerOfToken(subject: string, payload: unknown): Caller | undefined {
  if (typeof payload !== "object" || payload === null || !("scope" in payload)) return undefined;
  if (payload.scope === "operator" || payload.scope === "v1") return { kind: payload.scope, subject };
  if (payload.scope !== "node" || !("namespace" in payload)) return undefined;
  const { namespace } = payload;
  const serviceAccount = "serviceAccount" in payload ? payload.serviceAccount : undefined;
  const clusterId = "clusterId" in payload ? payload.clusterId : undefined;
  const classes = "classes" in payload ? payload.classes : undefined;
  if (typeof namespace !== "string" || namespace === "") return undefined;
  if (serviceAccount !== undefined && typeof serviceAccount !== "string") return undefined;
  if (clusterId !== undefined && (typeof clusterId !== "string" || clusterId === "")) return undefined;
  if (classes !== undefined && !isTexts(classes)) return undefined;
  return {
    kind: "node",
    subject,
    namespace,
    ...(serviceAccount === undefined ? {} : { serviceAccount }),
    ...(clusterId === undefined ? {} : { clusterId }),
    ...(classes === undefined ? {} : { classes }),
  };
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((element) => typeof element === "string");
