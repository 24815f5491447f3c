import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import type { Credentials } from "../auth/authentication.ts";
import { peerCertificateOf } from "../auth/peer-certificate.ts";

/** What a request to a server of Node's brings to prove who sent it: over HTTP/1, HTTP/2 and gRPC alike. */
export const nodeCredentials = (request: IncomingMessage | Http2ServerRequest): Credentials => ({
  header: (name) => headerOf(request, name),
  certificate: () => peerCertificateOf(request),
});

function headerOf({ headers, rawHeaders }: IncomingMessage | Http2ServerRequest, name: string): string | undefined {
  const value = headers[name];
  if (typeof value !== "string") return value?.join(", ");
  return name === "authorization" || name === "content-type" ? allOf(rawHeaders, name) : value;
}

/** All values of a header of which Node passes on the first alone: elsewhere two of them are one text, which proves nothing. */
function allOf(rawHeaders: readonly string[], name: string): string {
  const values: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const raw = rawHeaders[at] ?? "";
    if (raw.length === name.length && raw.toLowerCase() === name) values.push(rawHeaders[at + 1] ?? "");
  }
  return values.join(", ");
}
