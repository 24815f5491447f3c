import { decodeJwt, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from "jose";
import { type Identified, identified, type Method, refused } from "./authentication.ts";
import type { NodeCaller } from "./caller.ts";
import { createKnownTokens } from "./known-tokens.ts";
import { callerOf, type Subjects } from "./subjects.ts";
import { callerOfToken, tokenIssuer } from "./token.ts";
import type { ReviewToken } from "./token-review.ts";

/** Whose tokens are believed, and where they are found. */
export interface Issuer {
  readonly issuer: string;
  /** A token needs one of them. */
  readonly audience: readonly string[];
  /** Lower-case name of the header that brings them; in `authorization` after `Bearer`. */
  readonly header: string;
  /** Claim that names the subject. */
  readonly subjectClaim: string;
  /** Cluster that its workloads run in; absent: not said. */
  readonly clusterId?: string;
  /** By which tokens are verified here, or who is asked about each. */
  readonly proof: { readonly keys: JWTVerifyGetKey } | { readonly review: ReviewToken };
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
  const own = { issuer: tokenIssuer, audience: [tokenIssuer], header: "authorization", subjectClaim: "sub" };
  return tokenMethod([{ ...own, proof: { keys } }], ["EdDSA"], now, (_issuer, subject, payload) => {
    const caller = callerOfToken(subject, payload.portolan);
    return caller === undefined ? refused(401, "the token grants nothing that is known here") : identified(caller);
  });
}

/**
 * Tokens of OpenID Connect issuers, such as Kubernetes clusters or access proxies.
 *
 * @param issuers of one name, which bring their tokens in one header: API servers of several clusters may call themselves alike, and a token
 *   is that one's which verifies it
 */
export function issuedTokens(issuers: readonly Issuer[], subjects: Subjects, now: () => number): Method {
  return tokenMethod(issuers, algorithms, now, (issuer, subject, payload) =>
    callerOf(subjects, {
      subject,
      clusterId: issuer.clusterId,
      // Users may choose other claims than `sub` at many issuers, and must not name themselves a service account there.
      itself: issuer.subjectClaim === "sub" ? workloadOf(subject, payload, issuer.clusterId) : undefined,
    }),
  );
}

function tokenMethod(
  issuers: readonly Issuer[],
  allowed: string[],
  now: () => number,
  toCaller: (issuer: Issuer, subject: string, payload: JWTPayload) => Identified,
): Method {
  const known = createKnownTokens(now);
  const verify = async (token: string, issuer: Issuer): Promise<Identified> => {
    const { proof } = issuer;
    const payload =
      "review" in proof
        ? await reviewed(token, proof.review, issuer.audience)
        : await verified(token, proof.keys, issuer, allowed, now());
    if ("reason" in payload) return refused(401, String(payload.reason));
    const subject = payload[issuer.subjectClaim];
    if (typeof subject !== "string" || subject === "") return refused(401, `the token has no ${issuer.subjectClaim}`);
    const found = toCaller(issuer, subject, payload);
    known.keep(token, found, (payload.exp ?? 0) + clockToleranceSeconds);
    return found;
  };
  const verifyByAny = async (token: string, cluster: string | undefined): Promise<Identified> => {
    let failure: Identified | undefined;
    // Agents say which cluster they are in: a hint, and nothing more.
    for (const issuer of [...issuers].sort(
      (a, b) => Number(b.clusterId === cluster) - Number(a.clusterId === cluster),
    )) {
      const found = await verify(token, issuer).catch(toRefusal);
      if (found.kind === "identified") return found;
      // One that cannot be asked may be the one that holds.
      if (failure === undefined || found.status === 503) failure = found;
    }
    return failure ?? refused(401, "the token has no issuer");
  };
  const [first] = issuers;
  return ({ header }) => {
    if (first === undefined) return undefined;
    const token = tokenIn(header(first.header), first.header);
    if (token === undefined) return undefined;
    const before = known.of(token);
    if (before !== undefined) return before;
    if (issuerOf(token) !== first.issuer) return undefined;
    return verifyByAny(token, issuers.length > 1 ? header("clusterid") : undefined);
  };
}

async function verified(
  token: string,
  keys: JWTVerifyGetKey,
  { issuer, audience }: Issuer,
  algorithms: string[],
  nowMs: number,
): Promise<JWTPayload> {
  const { payload } = await jwtVerify(token, keys, {
    issuer,
    audience: [...audience],
    algorithms,
    requiredClaims: ["exp"],
    clockTolerance: clockToleranceSeconds,
    currentDate: new Date(nowMs),
  });
  return payload;
}

/** What the API server says of a token, in the claims that such tokens have. */
async function reviewed(
  token: string,
  review: ReviewToken,
  audiences: readonly string[],
): Promise<JWTPayload | { readonly reason: string }> {
  const exp = expiryOf(token);
  if (exp === undefined) return { reason: "the token does not hold: it has no end" };
  const found = await review(token, audiences);
  if (found.kind === "refused") return { reason: `the token does not hold: ${found.reason}` };
  const { subject: sub, pod } = found;
  return { sub, exp, ...(pod === undefined ? {} : { "kubernetes.io": { pod: { name: pod } } }) };
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
  return refused(503, "the keys of the token's issuer cannot be read, or its API server does not answer");
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
