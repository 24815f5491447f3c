import type { X509Certificate } from "node:crypto";

/**
 * The certificate whose key the other end of a connection has shown in TLS to hold, DER. Nothing else of it is verified.
 *
 * @param message of HTTP/1 or 2, as Node gives it, or anything else, which has none
 * @returns undefined without TLS, where the client has sent none, and when the connection is over
 */
export function peerCertificateOf(message: unknown): Uint8Array | undefined {
  try {
    return certificateOf(Object(message))?.raw;
  } catch {
    // Node throws for the socket of a session that is over.
    return undefined;
  }
}

function certificateOf({
  socket,
}: {
  readonly socket?: { readonly getPeerX509Certificate?: () => X509Certificate | undefined };
}): X509Certificate | undefined {
  return socket?.getPeerX509Certificate?.();
}
