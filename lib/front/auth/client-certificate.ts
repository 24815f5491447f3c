import type { X509Certificate } from "node:crypto";
import { fromBase64, toBase64 } from "../../base/base64.ts";
import { type Credentials, type Identified, type Method, refused } from "./authentication.ts";
import { identityIn } from "./certificate-identity.ts";
import { createKnownTokens } from "./known-tokens.ts";
import { textAt } from "./platform-text.ts";
import { callerOfSpiffeId, type TrustedIdentities } from "./spiffe-caller.ts";
import type { Subjects } from "./subjects.ts";

/** Client certificates that a platform has asked for in TLS: whose they are believed to be. */
export interface PlatformCertificates extends TrustedIdentities {
  readonly platform: keyof typeof platforms;
  /** Certificates of the authorities that sign those of clients themselves; they change where the mesh's CA is the authority. */
  readonly issuers: readonly X509Certificate[] | (() => Promise<readonly X509Certificate[]>);
  /** Serial numbers, in small hex, and SPIFFE ids whose certificates count no more. */
  readonly revoked: ReadonlySet<string>;
}

/** A certificate as PEM, or in base64 as DER; or why the platform does not vouch for it; undefined where the client has none. */
type Presented =
  | { readonly pem: string }
  | { readonly base64: string }
  | { readonly der: Uint8Array }
  | { readonly reason: string }
  | undefined;

/**
 * Where each platform puts the client's certificate: beside the request, in a field that no client can write. Headers are not read.
 *
 * @see https://developers.cloudflare.com/ssl/client-certificates/client-certificate-variables
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-mutual-tls.html
 */
const platforms = {
  cloudflare: ({ cf }: Credentials): Presented => {
    const read = (name: string) => textAt(cf, ["tlsClientAuth", name]);
    if (read("certPresented") !== "1") return undefined;
    if (read("certVerified") !== "SUCCESS")
      return {
        reason: `Cloudflare has not verified the client's certificate: ${read("certVerified") ?? "no certVerified"}`,
      };
    // A revoked certificate is verified all the same.
    if (read("certRevoked") !== "0") return { reason: "the client's certificate is revoked" };
    const [, base64] = /^:([A-Za-z0-9+/]+={0,2}):$/.exec(read("certRFC9440") ?? "") ?? [];
    return base64 === undefined ? { reason: "Cloudflare passes no client certificate above 10 KB on" } : { base64 };
  },
  "api-gateway": ({ platform }: Credentials): Presented => {
    const pem = textAt(platform, ["requestContext", "authentication", "clientCert", "clientCertPem"]);
    return pem === undefined ? undefined : { pem };
  },
  // This server itself, on its port with TLS.
  tls: ({ certificate }: Credentials): Presented => {
    const der = certificate?.();
    return der === undefined ? undefined : { der };
  },
} as const;

/** Names of the platforms, for messages. */
export const certificatePlatforms: readonly string[] = Object.keys(platforms);

export const isCertificatePlatform = (name: string): name is keyof typeof platforms => Object.hasOwn(platforms, name);

/** The client's certificate, as the platform in front has verified it. */
export function clientCertificates(settings: PlatformCertificates, subjects: Subjects, now: () => number): Method {
  const presentedIn = platforms[settings.platform];
  // A connection brings the same certificate with each of its requests.
  const known = createKnownTokens(now);

  function identify(text: string, certificate: string | Uint8Array): Identified | Promise<Identified> {
    const before = known.of(text);
    if (before !== undefined) return before;
    const { issuers } = settings;
    if (typeof issuers !== "function") return verify(text, certificate, issuers);
    return issuers().then(
      (read) => verify(text, certificate, read),
      () => refused(503, "the CA cannot be read, which certificates of clients are verified with"),
    );
  }

  function verify(text: string, certificate: string | Uint8Array, issuers: readonly X509Certificate[]): Identified {
    const identity = identityIn(certificate, issuers, now());
    if (identity.kind === "unproven") return refused(401, identity.reason);
    if ([identity.spiffeId, identity.serial].some((one) => settings.revoked.has(one)))
      return refused(401, "the client's certificate is revoked");
    const found = callerOfSpiffeId(identity.spiffeId, settings, subjects);
    known.keep(text, found, identity.expiresSeconds);
    return found;
  }

  return (credentials) => {
    const presented = presentedIn(credentials);
    if (presented === undefined) return undefined;
    if ("reason" in presented) return refused(401, presented.reason);
    if ("pem" in presented) return identify(presented.pem, presented.pem);
    if ("der" in presented) return identify(toBase64(presented.der), presented.der);
    // What is no base64 is no certificate either.
    return identify(presented.base64, fromBase64(presented.base64) ?? new Uint8Array());
  };
}
