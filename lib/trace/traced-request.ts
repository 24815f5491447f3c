import { PortolanError } from "../base/diagnostic.ts";

/** What a client's TLS says before anything is decrypted. */
export interface ClientTls {
  /** SNI, in lower case; "" for none. */
  readonly serverName: string;
  /** ALPN, in the client's order. */
  readonly applicationProtocols: readonly string[];
  readonly hasCertificate: boolean;
  /** The URI in that certificate, as `spiffe://cluster.local/ns/shop/sa/web`; absent where it is not known. */
  readonly identity?: string;
}

export interface HttpRequest {
  readonly method: string;
  /** As the client writes it, with the port where it does. */
  readonly authority: string;
  /** With its query, as the client writes it. */
  readonly path: string;
  /** By name in lower case; several of one name joined by commas. */
  readonly headers: ReadonlyMap<string, string>;
  /** Over a plain connection: whether the client speaks HTTP/2 at once. */
  readonly isHttp2: boolean;
  /** Claims of a good token, in each place where a provider looks for one; absent for what the request itself carries. */
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** A connection to an Envoy, and the first request on it. */
export interface TracedRequest {
  /** `outbound`: the workload opens it. `inbound`: somebody reaches the workload, or the gateway. */
  readonly direction: "inbound" | "outbound";
  /** Where it was going before it was led to Envoy. */
  readonly destination: {
    /** An IP address; absent where it is not known, and then one that nothing names. */
    readonly address?: string;
    readonly port: number;
  };
  /** Absent where it is not known, and then one that nothing names. */
  readonly source?: { readonly address: string; readonly port?: number };
  readonly tls?: ClientTls;
  /** Absent for a connection of plain TCP. */
  readonly http?: HttpRequest;
}

/** What a person says of a request besides its URL. */
export interface RequestOptions {
  readonly direction: TracedRequest["direction"];
  /** @default GET */
  readonly method?: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** Where it was going, where the URL's host does not say it. */
  readonly address?: string;
  /** @default the URL's */
  readonly port?: number;
  readonly source?: { readonly address: string; readonly port?: number };
  /** Inside the mutual TLS of another proxy of the mesh. */
  readonly isMutual?: boolean;
  /** Who that proxy is, as `spiffe://cluster.local/ns/shop/sa/web` or without the scheme; not known by default. */
  readonly identity?: string;
  /** Of a good JSON web token. */
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly isHttp2?: boolean;
}

const schemes: ReadonlyMap<string, { readonly port: number | undefined; readonly isTls: boolean }> = new Map([
  ["http", { port: 80, isTls: false }],
  ["https", { port: 443, isTls: true }],
  ["tcp", { port: undefined, isTls: false }],
  ["tls", { port: 443, isTls: true }],
]);
/** Longer URLs are refused. */
const maxUrlLength = 8_192;

/**
 * The request that a URL stands for: `http://`, `https://`, `tcp://host:port` or `tls://host:port`. Its path is left as it is written.
 *
 * @throws PortolanError for what is none
 */
export function requestOf(url: string, options: RequestOptions): TracedRequest {
  const written = url.slice(0, 200);
  const [, scheme = "", userinfo, host = "", portText, rest = ""] =
    /^([a-z]+):\/\/([^/?#@]*@)?(\[[0-9a-fA-F:.]+\]|[^/?#:@[\]\s]+)(?::(\d{1,5}))?([/?][^#\s]*)?(?:#.*)?$/i.exec(url) ??
    [];
  const known = schemes.get(scheme.toLowerCase());
  if (known === undefined || userinfo !== undefined || url.length > maxUrlLength)
    throw new PortolanError(
      `${JSON.stringify(written)} is no URL of the form http://host:port/path, https://host/path, tcp://host:port or tls://host:port`,
    );
  const urlPort = portText === undefined ? known.port : Number(portText);
  const port = options.port ?? urlPort;
  if (port === undefined || port < 1 || port > 65_535)
    throw new PortolanError(`${JSON.stringify(written)} has no port between 1 and 65535, such as tcp://host:5432`);
  const isHttp = scheme.toLowerCase().startsWith("http");
  const address = options.address ?? addressIn(host);
  return {
    direction: options.direction,
    destination: { port, ...(address === undefined ? {} : { address }) },
    ...(options.source === undefined ? {} : { source: options.source }),
    ...tlsOf(host.toLowerCase(), isHttp, known.isTls, options),
    ...(isHttp ? { http: httpOf(portText === undefined ? host : `${host}:${portText}`, rest, options) } : {}),
  };
}

/** More claims are refused: they come from outside. */
const maxClaimsLength = 16_384;

/**
 * Claims as somebody writes them: a JSON object.
 *
 * @throws PortolanError for what is none
 */
export function claimsOf(written: string): Readonly<Record<string, unknown>> {
  let read: unknown;
  try {
    read = written.length > maxClaimsLength ? undefined : JSON.parse(written);
  } catch {
    read = undefined;
  }
  if (typeof read === "object" && read !== null && !Array.isArray(read)) return { ...read };
  throw new PortolanError(
    `${JSON.stringify(written.slice(0, 200))} is no JSON object of at most ${maxClaimsLength} characters, such as {"iss":"https://issuer"}`,
  );
}

/** The IP address that a URL's host is; undefined for a name. */
export function addressIn(host: string): string | undefined {
  if (host.startsWith("[")) return host.slice(1, -1);
  return /^\d{1,3}(\.\d{1,3}){3}$/.test(host) ? host : undefined;
}

function tlsOf(host: string, isHttp: boolean, isTls: boolean, options: RequestOptions) {
  const { isMutual = false, isHttp2 = false, identity } = options;
  if (isMutual) {
    const http = isHttp2 ? "istio-h2" : "istio-http/1.1";
    const applicationProtocols = isHttp ? [http, "istio"] : ["istio-peer-exchange", "istio"];
    const known =
      identity === undefined ? {} : { identity: identity.includes("://") ? identity : `spiffe://${identity}` };
    const serverName = addressIn(host) === undefined ? host : "";
    return { tls: { serverName, applicationProtocols, hasCertificate: true, ...known } };
  }
  if (!isTls) return {};
  const serverName = addressIn(host) === undefined ? host : "";
  return { tls: { serverName, applicationProtocols: isHttp ? ["h2", "http/1.1"] : [], hasCertificate: false } };
}

function httpOf(authority: string, rest: string, options: RequestOptions): HttpRequest {
  const headers = new Map<string, string>();
  for (const [name, value] of options.headers ?? []) {
    const key = name.toLowerCase();
    const before = headers.get(key);
    headers.set(key, before === undefined ? value : `${before},${value}`);
  }
  const host = headers.get("host");
  headers.delete("host");
  return {
    method: options.method ?? "GET",
    authority: host ?? authority,
    path: rest.startsWith("/") ? rest : `/${rest}`,
    headers,
    isHttp2: options.isHttp2 === true,
    ...(options.claims === undefined ? {} : { claims: options.claims }),
  };
}
