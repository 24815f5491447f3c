/** An extension's settings, with their type. */
export interface TypedConfig {
  readonly "@type"?: string;
}

const prefix = "type.googleapis.com/";

/** Whether settings are of a message, by its name without the version: `envoy.extensions.filters.network.tcp_proxy`. */
export function isOfMessage(config: TypedConfig | undefined, message: string): boolean {
  return config?.["@type"]?.replace(/\.v\d+\.\w+$/, "") === prefix + message;
}
