import type { NodeResources } from "../node-resources.ts";
import type { RoutedRequest } from "../route-match.ts";
import type { ReadRegex } from "../string-match.ts";
import type { TracedRequest } from "../traced-request.ts";
import type { Metadata } from "./metadata.ts";
import type { Work } from "./work.ts";

/** Who the other end of a connection has proved to be. */
export type Peer =
  /** Without TLS. */
  | { readonly kind: "plain" }
  /** Within TLS that is terminated here: names of its certificate, those that policies ask for first; none without a certificate. */
  | { readonly kind: "tls"; readonly names: readonly string[] }
  /** Within such TLS, with a certificate of which nothing is said. */
  | { readonly kind: "unnamed" };

/** What filters know of a connection, and what they are judged with. */
export interface FilterContext {
  readonly resources: NodeResources;
  readonly request: TracedRequest;
  readonly peer: Peer;
  /** SNI, as the listener's filters have seen it. */
  readonly serverName: string;
  readonly readRegex: ReadRegex;
  /** Whether rules for paths do without the parameters of segments: by the table of the chosen route, if there is one. */
  readonly ignoresPathParameters: boolean;
  readonly work: Work;
}

/** A request on its way through filters, each of which may change it. */
export interface Stream {
  /** By name in lower case, those of HTTP/2 too; none for plain TCP. */
  readonly headers: ReadonlyMap<string, string>;
  /** Where the client is by headers of proxies in front, or by its connection; absent where it is not known. */
  readonly remoteAddress?: string;
  readonly metadata: Metadata;
}

/** The request as routes see it. */
export function routedRequest({ headers, metadata }: Stream, { peer, work }: FilterContext): RoutedRequest {
  return {
    method: headers.get(":method") ?? "",
    path: headers.get(":path") ?? "",
    headers,
    hasCertificate: peer.kind === "unnamed" || (peer.kind === "tls" && peer.names.length > 0),
    metadata,
    work,
  };
}
