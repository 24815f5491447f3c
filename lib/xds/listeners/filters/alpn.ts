/**
 * ALPN names of mesh traffic: what chains match, and what TLS contexts offer.
 * @see docs/how-istio-does-it/listeners.md#inbound-chains
 */

/** Plain HTTP as the HTTP inspector names it. */
export const plainHttpAlpns = ["http/1.1", "h2c"] as const;

/** Anything that a mesh client sends over mutual TLS. */
export const istioAlpns = ["istio", "istio-peer-exchange", "istio-http/1.0", "istio-http/1.1", "istio-h2"] as const;

/** HTTP that a mesh client recognised. */
export const istioHttpAlpns = ["istio-http/1.0", "istio-http/1.1", "istio-h2"] as const;

/** Mesh traffic that the client did not recognise as HTTP. */
export const istioTcpAlpns = ["istio-peer-exchange", "istio"] as const;
