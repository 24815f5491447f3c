import type { X509Certificate } from "node:crypto";
import { createLocalJWKSet, type JWTVerifyGetKey } from "jose";
import { hashOf } from "../../base/blob.ts";
import { isRecord, type JsonRecord } from "../../base/classifier.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { type Authentication, authenticateBy, type Method, noAuthentication } from "./authentication.ts";
import { awsIam } from "./aws-iam.ts";
import { readCertificate } from "./certificate-identity.ts";
import {
  certificatePlatforms,
  clientCertificates,
  isCertificatePlatform,
  type PlatformCertificates,
} from "./client-certificate.ts";
import { discoveredKeys } from "./discovered-keys.ts";
import { forwardedCertificates } from "./forwarded-certificate.ts";
import { type Issuer, issuedTokens, ownTokens } from "./jwt.ts";
import { type FetchKeys, isKeySet, isSafeKeysUrl, remoteKeys } from "./remote-keys.ts";
import type { Grant, Subjects } from "./subjects.ts";
import { type ClusterApi, tokenReview } from "./token-review.ts";

export interface AuthenticationOptions {
  /** Name of the setting, for messages. */
  readonly name?: string;
  readonly now?: () => number;
  readonly fetchKeys?: FetchKeys;
  /** The API server of a context of this process's kubeconfig, of its own cluster without one; absent: there is neither. */
  readonly clusterApi?: ((context: string | undefined) => ClusterApi) | undefined;
  /** Certificates of the mesh's CA that sign, PEM; absent: there is none here, and no port with TLS that asks for them. */
  readonly authorityIssuers?: (() => Promise<readonly string[]>) | undefined;
  /** Hears why the keys of an issuer could not be read where those of before are believed. */
  readonly onStaleKeys?: (cause: unknown) => void;
}

/**
 * Authentication as an operator sets it: `off`, or JSON whose members docs/security.md describes.
 *
 * @throws PortolanError that names the member that it cannot read
 */
export function readAuthentication(text: string, options: AuthenticationOptions = {}): Authentication {
  const { name = "PORTOLAN_AUTHENTICATION", now = Date.now, fetchKeys = (url, init) => fetch(url, init) } = options;
  const { onStaleKeys = () => {}, clusterApi, authorityIssuers } = options;
  const remote: RemoteKeys = (url, how) => remoteKeys(url, how, now, onStaleKeys);
  if (text.trim() === "off") return noAuthentication;
  const wrong: Wrong = (path, what) => new PortolanError(`${name}: ${path === "" ? "it" : path} ${what}`);
  const known = ["tokens", "issuers", "proxy", "certificates", "iam", "subjects"];
  const settings = record(parse(text), "", wrong, known);
  const subjects = readSubjects(settings.subjects, wrong);
  const methods: Method[] = [];
  const said: string[] = [];
  let asksForCertificates = false;
  if (settings.tokens !== undefined) {
    methods.push(ownTokens(localKeys(settings.tokens, "tokens", wrong), now));
    said.push("tokens of our own");
  }
  const issuers = list(settings.issuers, "issuers", wrong).map((value, index) =>
    readIssuer(value, `issuers[${index}]`, wrong, { remote, fetchKeys, clusterApi }),
  );
  for (const alike of Map.groupBy(issuers, ({ issuer, header }) => `${header} ${issuer}`).values()) {
    methods.push(issuedTokens(alike, subjects, now));
    said.push(`tokens of ${alike[0]?.issuer}${alike.length === 1 ? "" : `, which ${alike.length} clusters have`}`);
  }
  if (settings.proxy !== undefined) {
    methods.push(forwardedCertificates(readProxy(settings.proxy, wrong), subjects));
    said.push("certificates that a proxy has checked");
  }
  if (settings.certificates !== undefined) {
    const certificates = readCertificates(settings.certificates, wrong, authorityIssuers);
    const method = clientCertificates(certificates, subjects, now);
    asksForCertificates = certificates.platform === "tls";
    // As istiod: a certificate that does not hold is refused, whatever the request brings besides.
    if (asksForCertificates) methods.unshift(method);
    else methods.push(method);
    said.push(
      asksForCertificates ? "certificates over TLS" : `certificates that ${certificates.platform} has verified`,
    );
  }
  if (settings.iam !== undefined && typeof settings.iam !== "boolean") throw wrong("iam", "is neither true nor false");
  if (settings.iam === true) {
    methods.push(awsIam(subjects));
    said.push("AWS IAM");
  }
  if (methods.length === 0) throw wrong("", "names no method of authentication; write off to serve every client");
  return authenticateBy(`by ${said.join(", ")}`, methods, asksForCertificates);
}

type Wrong = (path: string, what: string) => PortolanError;

type RemoteKeys = (url: string, fetchKeys: FetchKeys) => JWTVerifyGetKey;

/** How keys are read over a network. */
interface KeyReaders extends Pick<AuthenticationOptions, "clusterApi"> {
  readonly remote: RemoteKeys;
  readonly fetchKeys: FetchKeys;
}

function readIssuer(value: unknown, path: string, wrong: Wrong, readers: KeyReaders): Issuer {
  const known = [
    "issuer",
    "audience",
    "jwks",
    "jwksUri",
    "discovery",
    "context",
    "header",
    "subjectClaim",
    "clusterId",
  ];
  const settings = record(value, path, wrong, known);
  const { audience, header = "authorization", subjectClaim = "sub", clusterId } = settings;
  return {
    issuer: required(settings.issuer, `${path}.issuer`, wrong),
    audience: Array.isArray(audience)
      ? texts(audience, `${path}.audience`, wrong)
      : [required(audience, `${path}.audience`, wrong)],
    header: required(header, `${path}.header`, wrong).toLowerCase(),
    subjectClaim: required(subjectClaim, `${path}.subjectClaim`, wrong),
    ...clusterIn(clusterId, path, wrong),
    proof: proofOf(settings, path, wrong, readers),
  };
}

/** Where a cluster's API server has the keys of its service account tokens. */
const clusterKeysUrl = "https://kubernetes.default.svc/openid/v1/jwks";

function proofOf(settings: JsonRecord, path: string, wrong: Wrong, readers: KeyReaders): Issuer["proof"] {
  const { issuer, jwks, jwksUri, discovery, context } = settings;
  const { remote, fetchKeys, clusterApi } = readers;
  if ([jwks, jwksUri, discovery].filter((one) => one !== undefined).length !== 1)
    throw wrong(path, "needs one of jwks, jwksUri and discovery");
  if (context !== undefined && discovery !== "cluster" && discovery !== "review")
    throw wrong(`${path}.context`, "is for the discovery cluster or review");
  if (jwks !== undefined) return { keys: localKeys(jwks, `${path}.jwks`, wrong) };
  if (jwksUri !== undefined) return { keys: remote(safeUrl(jwksUri, `${path}.jwksUri`, wrong), fetchKeys) };
  if (discovery === "issuer") {
    const url = safeUrl(issuer, `${path}.issuer`, wrong);
    return { keys: remote(url, discoveredKeys(url, fetchKeys)) };
  }
  if (discovery !== "cluster" && discovery !== "review")
    throw wrong(`${path}.discovery`, "is none of issuer, cluster and review");
  if (clusterApi === undefined)
    throw wrong(
      `${path}.discovery`,
      `is ${discovery}, which a server in a pod or with KUBECONFIG can ask; write issuer, jwksUri or jwks`,
    );
  const api = clusterApi(context === undefined ? undefined : required(context, `${path}.context`, wrong));
  return discovery === "review" ? { review: tokenReview(api) } : { keys: remote(clusterKeysUrl, api.fetchKeys) };
}

function safeUrl(value: unknown, path: string, wrong: Wrong): string {
  const url = required(value, path, wrong);
  if (!URL.canParse(url) || !isSafeKeysUrl(new URL(url))) throw wrong(path, "is no https URL");
  return url;
}

function readProxy(value: unknown, wrong: Wrong) {
  const settings = record(value, "proxy", wrong, ["secrets", "trustDomains", "clusterId"]);
  const secrets = texts(settings.secrets, "proxy.secrets", wrong);
  if (secrets.length > 2) throw wrong("proxy.secrets", "holds more than two, the new one and the old");
  if (secrets.some((secret) => secret.length < 16)) throw wrong("proxy.secrets", "holds one below 16 characters");
  const hashes = secrets.map((secret) => hashOf(secret));
  return {
    secretHashes: new Set(hashes),
    trustDomains: new Set(texts(settings.trustDomains, "proxy.trustDomains", wrong)),
    ...clusterIn(settings.clusterId, "proxy", wrong),
  };
}

/** More authorities than a change of two needs are a mistake. */
const maxAuthorities = 8;

/** More are a list of its own: end the CA that signed them. */
const maxRevoked = 1_000;

function readCertificates(
  value: unknown,
  wrong: Wrong,
  authorityIssuers: AuthenticationOptions["authorityIssuers"],
): PlatformCertificates {
  const path = "certificates";
  const known = ["platform", "issuers", "trustDomains", "clusterId", "revoked"];
  const settings = record(value, path, wrong, known);
  const platform = required(settings.platform, `${path}.platform`, wrong);
  if (!isCertificatePlatform(platform))
    throw wrong(`${path}.platform`, `is none of ${certificatePlatforms.join(" and ")}`);
  if (platform === "tls" && authorityIssuers === undefined)
    throw wrong(`${path}.platform`, "is tls, which a server with PORTOLAN_CA on can ask for");
  const isNamed = platform !== "tls" || settings.issuers !== undefined;
  const authorities = isNamed ? texts(settings.issuers, `${path}.issuers`, wrong) : [];
  const revoked = settings.revoked === undefined ? [] : texts(settings.revoked, `${path}.revoked`, wrong);
  if (revoked.length > maxRevoked) throw wrong(`${path}.revoked`, `holds more than ${maxRevoked}`);
  if (authorities.length > maxAuthorities) throw wrong(`${path}.issuers`, `holds more than ${maxAuthorities}`);
  const issuers = authorities.map((pem, index) => readAuthority(pem, `${path}.issuers[${index}]`, wrong));
  return {
    platform,
    issuers:
      authorityIssuers === undefined || platform !== "tls"
        ? issuers
        : async () => [...(await authorityIssuers()).flatMap((pem) => readCertificate(pem) ?? []), ...issuers],
    // As people write serial numbers: with colons, and in capitals.
    revoked: new Set(revoked.map((one) => (one.startsWith("spiffe://") ? one : one.replaceAll(":", "").toLowerCase()))),
    trustDomains: new Set(texts(settings.trustDomains, `${path}.trustDomains`, wrong)),
    ...clusterIn(settings.clusterId, path, wrong),
  };
}

function readAuthority(pem: string, path: string, wrong: Wrong): X509Certificate {
  // Of several Node reads the first, and the others would be left out in silence.
  if (pem.split("-----BEGIN ").length !== 2) throw wrong(path, "is not one certificate as PEM");
  const authority = readCertificate(pem);
  if (authority === undefined) throw wrong(path, "is a certificate that cannot be read");
  if (!authority.ca)
    throw wrong(path, "is no authority's certificate: write that of the authority that signs clients'");
  return authority;
}

function readSubjects(value: unknown, wrong: Wrong): Subjects {
  if (value === undefined) return new Map();
  const settings = record(value, "subjects", wrong);
  return new Map(
    Object.entries(settings).map(([subject, grant]) => [subject, readGrant(grant, `subjects.${subject}`, wrong)]),
  );
}

function readGrant(value: unknown, path: string, wrong: Wrong): Grant {
  const {
    scope = "node",
    namespace,
    serviceAccount,
    clusterId,
  } = record(value, path, wrong, ["scope", "namespace", "serviceAccount", "clusterId"]);
  const cluster = clusterIn(clusterId, path, wrong);
  if (scope === "operator" || scope === "v1") return { scope, ...cluster };
  if (scope !== "node") throw wrong(`${path}.scope`, "is none of node, v1 and operator");
  return {
    scope,
    namespace: required(namespace, `${path}.namespace`, wrong),
    ...(serviceAccount === undefined
      ? {}
      : { serviceAccount: required(serviceAccount, `${path}.serviceAccount`, wrong) }),
    ...cluster,
  };
}

const clusterIn = (value: unknown, path: string, wrong: Wrong): { readonly clusterId?: string } =>
  value === undefined ? {} : { clusterId: required(value, `${path}.clusterId`, wrong) };

function localKeys(value: unknown, path: string, wrong: Wrong): JWTVerifyGetKey {
  if (!isKeySet(value) || value.keys.length === 0) throw wrong(path, 'is no set of keys: {"keys": [...]}');
  if (value.keys.some((key) => "d" in key || "k" in key))
    throw wrong(path, "holds a key that is not public; write what `portolan keys list --public` prints");
  if (value.keys.some((key) => "portolan" in key && key.portolan !== "tokens"))
    throw wrong(path, "holds a key that is not for tokens");
  return createLocalJWKSet(value);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function record(value: unknown, path: string, wrong: Wrong, known?: readonly string[]): JsonRecord {
  if (!isRecord(value)) throw wrong(path, "is no JSON object");
  const unknown = known === undefined ? undefined : Object.keys(value).find((key) => !known.includes(key));
  if (unknown !== undefined) throw wrong(path, `has a member ${unknown}; known are ${known?.join(", ")}`);
  return value;
}

function list(value: unknown, path: string, wrong: Wrong): readonly unknown[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw wrong(path, "is no list");
  return value;
}

function texts(value: unknown, path: string, wrong: Wrong): readonly string[] {
  const found = list(value, path, wrong);
  if (found.length === 0) throw wrong(path, "is empty");
  return found.map((element, index) => required(element, `${path}[${index}]`, wrong));
}

function required(value: unknown, path: string, wrong: Wrong): string {
  if (typeof value !== "string" || value === "") throw wrong(path, "is no text, or empty");
  return value;
}
