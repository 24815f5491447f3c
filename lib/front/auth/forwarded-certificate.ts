import { hashOf } from "../../snapshot/blob.ts";
import { type Identified, type Method, refused } from "./authentication.ts";
import type { NodeCaller } from "./caller.ts";
import { callerOf, type Subjects } from "./subjects.ts";

/** A proxy in front that ends mutual TLS, and says whose certificate it saw. */
export interface TrustedProxy {
  /** SHA-256 of the secrets of which it sends one in `x-portolan-proxy`, lower-case hex: nobody else's word counts. */
  readonly secretHashes: ReadonlySet<string>;
  /** Trust domains whose SPIFFE ids are believed. */
  readonly trustDomains: ReadonlySet<string>;
  /** Id of the cluster whose workloads it lets in; absent: not said, since a SPIFFE id names none. */
  readonly clusterId?: string;
}

const certificateHeader = "x-forwarded-client-cert";
const proxyHeader = "x-portolan-proxy";

/** The client certificate that a trusted proxy has checked, by Envoy's `x-forwarded-client-cert`. */
export function forwardedCertificates(
  { secretHashes, trustDomains, clusterId }: TrustedProxy,
  subjects: Subjects,
): Method {
  const identify = async (certificates: string, secret: string | undefined): Promise<Identified> => {
    if (secret === undefined || !secretHashes.has(hashOf(secret)))
      return refused(401, `${certificateHeader} comes from nobody who may say it`);
    const id = spiffeIdOf(certificates);
    if (id === undefined) return refused(401, "the client's certificate has no one SPIFFE id");
    const [, trustDomain = "", namespace = "", serviceAccount = ""] =
      /^spiffe:\/\/([^/]+)\/ns\/([^/]+)\/sa\/([^/]+)$/.exec(id) ?? /^spiffe:\/\/([^/]+)\//.exec(id) ?? [];
    if (!trustDomains.has(trustDomain)) return refused(401, `${id} is of no trusted domain`);
    const cluster = clusterId === undefined ? {} : { clusterId };
    const itself: NodeCaller = { kind: "node", subject: id, namespace, serviceAccount, ...cluster };
    return callerOf(subjects, { subject: id, clusterId, itself: namespace === "" ? undefined : itself });
  };
  return ({ header }) => {
    const certificates = header(certificateHeader);
    return certificates === undefined ? undefined : identify(certificates, header(proxyHeader));
  };
}

/**
 * The URI of the last element, which is the one that the nearest proxy wrote; those before it are anybody's words. Elements stand
 * between commas, `key=value` between semicolons, and values may be quoted.
 *
 * @see https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_conn_man/headers#x-forwarded-client-cert
 */
export function spiffeIdOf(header: string): string | undefined {
  const parts = header.match(/(?:[^",]|"(?:[^"\\]|\\.)*")+/g) ?? [];
  const uris = (parts.at(-1)?.match(/(?:[^";]|"(?:[^"\\]|\\.)*")+/g) ?? []).flatMap((pair) => {
    const [, value] = /^\s*URI=(.*)$/i.exec(pair) ?? [];
    return value === undefined ? [] : [value.replace(/^"(.*)"$/, "$1")];
  });
  return uris.length === 1 && uris[0]?.startsWith("spiffe://") === true ? uris[0] : undefined;
}
