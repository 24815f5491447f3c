/** An extension's settings, with their type. */
export interface TypedConfig {
  readonly "@type"?: string;
}

const prefix = "type.googleapis.com/";

/** Whether settings are of a message, by its full name: those of another version of it have other fields. */
export function isOfMessage(config: TypedConfig | undefined, message: string): boolean {
  return config?.["@type"] === prefix + message;
}
