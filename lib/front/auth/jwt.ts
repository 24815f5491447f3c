import { decodeJwt, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from "jose";
import { type Identified, identified, type Method, refused } from "./authentication.ts";
import type { NodeCaller } from "./caller.ts";
import { createKnownTokens } from "./known-tokens.ts";
import { callerOf, type Subjects } from "./subjects.ts";
import { callerOfToken, tokenIssuer } from "./token.ts";

/** Whose tokens are believed, and where they are found. */
export interface Issuer {
  readonly issuer: string;
  readonly audience: string;
  /** Lower-case name of the header that brings them; in `authorization` after `Bearer`. */
  readonly header: string;
  /** Claim that names the subject. */
  readonly subjectClaim: string;
  /** Cluster that its workloads run in; absent: not said. */
  readonly clusterId?: string;
  readonly keys: JWTVerifyGetKey;
}

/** Never a shared secret: whoever can check such a token can make one. */
const algorithms = [
  "EdDSA",
  "Ed25519",
  "ES256",
  "ES384",
  "ES512",
  "PS256",
  "PS384",
  "PS512",
  "RS256",
  "RS384",
  "RS512",
];

/** Clocks differ by so much: a token is taken until so long after its end. */
export const clockToleranceSeconds = 30;
const maxTokenLength = 8 * 1024;

/** Tokens of our own, signed with one of the keys. */
export function ownTokens(keys: JWTVerifyGetKey, now: () => number): Method {
  const issuer = { issuer: tokenIssuer, audience: tokenIssuer, header: "authorization", subjectClaim: "sub", keys };
  return tokenMethod(issuer, ["EdDSA"], now, (subject, payload) => {
    const caller = callerOfToken(subject, payload.portolan);
    return caller === undefined ? refused(401, "the token grants nothing that is known here") : identified(caller);
  });
}

/** Tokens of an OpenID Connect issuer, such as a Kubernetes cluster or an access proxy. */
export function issuedTokens(issuer: Issuer, subjects: Subjects, now: () => number): Method {
  return tokenMethod(issuer, algorithms, now, (subject, payload) =>
    callerOf(subjects, {
      subject,
      clusterId: issuer.clusterId,
      itself: workloadOf(subject, payload, issuer.clusterId),
    }),
  );
}

function tokenMethod(
  issuer: Issuer,
  allowed: string[],
  now: () => number,
  toCaller: (subject: string, payload: JWTPayload) => Identified,
): Method {
  const known = createKnownTokens(now);
  const verify = async (token: string): Promise<Identified> => {
    const { payload } = await jwtVerify(token, issuer.keys, {
      issuer: issuer.issuer,
      audience: issuer.audience,
      algorithms: allowed,
      requiredClaims: ["exp"],
      clockTolerance: clockToleranceSeconds,
      currentDate: new Date(now()),
    });
    const subject = payload[issuer.subjectClaim];
    if (typeof subject !== "string" || subject === "") return refused(401, `the token has no ${issuer.subjectClaim}`);
    const found = toCaller(subject, payload);
    known.keep(token, found, (payload.exp ?? 0) + clockToleranceSeconds);
    return found;
  };
  return ({ header }) => {
    const token = tokenIn(header(issuer.header), issuer.header);
    if (token === undefined) return undefined;
    const before = known.of(token);
    if (before !== undefined) return before;
    if (issuerOf(token) !== issuer.issuer) return undefined;
    return verify(token).catch(toRefusal);
  };
}

function tokenIn(value: string | undefined, header: string): string | undefined {
  if (value === undefined || value.length > maxTokenLength) return undefined;
  return header === "authorization" ? /^Bearer +(\S+)$/i.exec(value)?.[1] : value;
}

/** Who says to have issued a token; nothing is believed yet. */
const issuerOf = (token: string): string | undefined => claimsOf(token)?.iss;

/** When a token says to end, in seconds since the epoch; undefined where it says nothing, and for what is no token. */
export const expiryOf = (token: string): number | undefined => claimsOf(token)?.exp;

function claimsOf(token: string): JWTPayload | undefined {
  try {
    return decodeJwt(token);
  } catch {
    return undefined;
  }
}

function toRefusal(cause: unknown): Identified {
  if (cause instanceof errors.JOSEError && !(cause instanceof errors.JWKSTimeout)) {
    // The reason tells its bearer what to mend, and nobody else anything.
    return refused(401, `the token does not hold: ${cause.message}`);
  }
  return refused(503, "the keys of the token's issuer cannot be read");
}

/** A Kubernetes service account, with its pod where the token is bound to one. */
function workloadOf(subject: string, payload: JWTPayload, clusterId: string | undefined): NodeCaller | undefined {
  const [, namespace = "", serviceAccount = ""] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(subject) ?? [];
  if (namespace === "") return undefined;
  const pod = podOf(payload["kubernetes.io"]);
  return {
    kind: "node",
    subject,
    namespace,
    serviceAccount,
    ...(pod === undefined ? {} : { pod }),
    ...(clusterId === undefined ? {} : { clusterId }),
  };
}

/** `kubernetes.io.pod.name`. @see https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/ */
function podOf(claims: unknown): string | undefined {
  const pod = typeof claims === "object" && claims !== null && "pod" in claims ? claims.pod : undefined;
  const name = typeof pod === "object" && pod !== null && "name" in pod ? pod.name : undefined;
  return typeof name === "string" ? name : undefined;
}
