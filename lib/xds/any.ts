/** An open Any: a message's JSON with its type in front. `T` is the message's own generated Json type. */
export type PackedJson<T extends object> = { readonly "@type": string } & T;

/** Packs a message into an Any. `type` is the full name without the prefix: `envoy.extensions.…v3.TcpProxy`. */
export function packAny<T extends object>(type: string, message: T): PackedJson<T> {
  return { "@type": `type.googleapis.com/${type}`, ...message };
}
