import ipaddr from "ipaddr.js";
import type { HttpConnectionManagerJson } from "../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import { isLoopback } from "../base/loopback.ts";
import { plainAddress } from "./addresses.ts";
import type { End } from "./decision.ts";
import type { Stream } from "./filters/stream.ts";
import { readPath } from "./path.ts";
import type { HttpRequest, TracedRequest } from "./traced-request.ts";
import { withoutPort } from "./virtual-host.ts";

/** What a connection manager reads. */
export interface ReceivedRequest {
  readonly http: HttpRequest;
  readonly settings: HttpConnectionManagerJson;
  readonly isTls: boolean;
  readonly request: TracedRequest;
}

/** The request as routes and filters see it, or the answer before. */
export function receivedStream({
  http,
  settings,
  isTls,
  request,
}: ReceivedRequest): { readonly stream: Stream } | { readonly end: End } {
  const read = readPath(http.path, settings);
  if (read.kind === "refused") return { end: { kind: "response", status: 400, why: read.why } };
  if (read.kind === "redirect") return { end: { kind: "redirect", status: 307, location: read.path } };
  const { useRemoteAddress = false, xffNumTrustedHops = 0, skipXffAppend = false } = settings;
  const keepsScheme = !useRemoteAddress || xffNumTrustedHops > 0;
  const said = keepsScheme ? http.headers.get("x-forwarded-proto") : undefined;
  const scheme = said ?? (isTls ? "https" : "http");
  const authority = strippedAuthority(http.authority, settings, request.destination.port);
  const source = request.source?.address;
  const forwarded = http.headers.get("x-forwarded-for");
  const appends = useRemoteAddress && !skipXffAppend && source !== undefined && !isLoopback(plainAddress(source));
  const headers = new Map([
    ...http.headers,
    ...(appends ? [["x-forwarded-for", forwarded === undefined ? source : `${forwarded},${source}`] as const] : []),
    ...([
      [":method", http.method],
      [":path", read.path],
      [":authority", authority],
      ["host", authority],
      [":scheme", scheme],
      ["x-forwarded-proto", scheme],
    ] as const),
  ]);
  const remoteAddress = remoteAddressOf(settings, forwarded, source);
  return {
    stream: { headers, metadata: new Map(), ...(remoteAddress === undefined ? {} : { remoteAddress }) },
  };
}

function strippedAuthority(authority: string, settings: HttpConnectionManagerJson, port: number): string {
  const { stripAnyHostPort, stripMatchingHostPort, stripTrailingHostDot } = settings;
  const isMatching = stripMatchingHostPort === true && authority.endsWith(`:${port}`);
  const host = stripAnyHostPort === true || isMatching ? withoutPort(authority) : authority;
  return stripTrailingHostDot === true ? host.replace(/\.(:\d+)?$/, "$1") : host;
}

/**
 * Whom a connection manager takes for the client.
 *
 * @returns undefined where it is not known
 * @see envoy 1.40.0 source/common/http/conn_manager_utility.cc, mutateRequestHeaders
 */
function remoteAddressOf(
  settings: HttpConnectionManagerJson,
  forwarded: string | undefined,
  source: string | undefined,
): string | undefined {
  const { useRemoteAddress = false, xffNumTrustedHops: hops = 0, originalIpDetectionExtensions = [] } = settings;
  if (originalIpDetectionExtensions.length > 0) return undefined;
  if (useRemoteAddress) return (hops > 0 ? forwardedAddress(forwarded, hops - 1) : undefined) ?? source;
  return forwardedAddress(forwarded, hops) ?? source;
}

/** The address in `x-forwarded-for` that stands before as many others, counted from the end. */
function forwardedAddress(forwarded: string | undefined, skipped: number): string | undefined {
  const one =
    forwarded
      ?.split(",")
      .at(-1 - skipped)
      ?.trim() ?? "";
  // An IPv4 address has four parts for Envoy.
  return ipaddr.IPv4.isValidFourPartDecimal(one) || ipaddr.IPv6.isValid(one) ? one : undefined;
}
