import { hashOf } from "../../base/blob.ts";
import { type Identified, type Method, refused } from "./authentication.ts";
import { callerOfSpiffeId, type TrustedIdentities } from "./spiffe-caller.ts";
import type { Subjects } from "./subjects.ts";

/** A proxy in front that ends mutual TLS, and says whose certificate it saw. */
export interface TrustedProxy extends TrustedIdentities {
  /** SHA-256 of the secrets of which it sends one in `x-portolan-proxy`, lower-case hex: nobody else's word counts. */
  readonly secretHashes: ReadonlySet<string>;
}

const certificateHeader = "x-forwarded-client-cert";
const proxyHeader = "x-portolan-proxy";

/** The client certificate that a trusted proxy has checked, by Envoy's `x-forwarded-client-cert`. */
export function forwardedCertificates(proxy: TrustedProxy, subjects: Subjects): Method {
  const identify = async (certificates: string, secret: string | undefined): Promise<Identified> => {
    if (secret === undefined || !proxy.secretHashes.has(hashOf(secret)))
      return refused(401, `${certificateHeader} does not come from a trusted proxy`);
    const id = spiffeIdOf(certificates);
    if (id === undefined) return refused(401, "the client's certificate has no one SPIFFE id");
    return callerOfSpiffeId(id, proxy, subjects);
  };
  return ({ header }) => {
    const certificates = header(certificateHeader);
    return certificates === undefined ? undefined : identify(certificates, header(proxyHeader));
  };
}

/**
 * The URI of the last element, which is the one that the nearest proxy wrote; those before it are anybody's words. Elements stand
 * between commas, `key=value` between semicolons, and values may be quoted. Each character is looked at once.
 *
 * @returns undefined where there is not exactly one URI, where it is no SPIFFE id, and where a quotation does not end
 * @see https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_conn_man/headers#x-forwarded-client-cert
 */
export function spiffeIdOf(header: string): string | undefined {
  let uris: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at <= header.length; at += 1) {
    const character = header.charAt(at);
    if (isQuoted) {
      if (character === "\\") at += 1;
      else if (character === '"') isQuoted = false;
    } else if (character === '"') isQuoted = true;
    else if (character === "," || character === ";" || character === "") {
      uris.push(...uriIn(header.slice(start, at)));
      start = at + 1;
      if (character === ",") uris = [];
    }
  }
  const [uri] = uris;
  return !isQuoted && uris.length === 1 && uri?.startsWith("spiffe://") === true ? uri : undefined;
}

const uriKey = "uri=";

/** The value of a `key=value` whose key is `URI`: none, or one. */
function uriIn(pair: string): readonly string[] {
  const text = pair.trimStart();
  if (text.slice(0, uriKey.length).toLowerCase() !== uriKey) return [];
  const value = text.slice(uriKey.length);
  return [value.length > 1 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value];
}
