/** Fields of Envoy's messages that hold what nobody is to read. */
const secretFields: ReadonlySet<string> = new Set([
  "privateKey",
  "privateKeyProvider",
  "pkcs12",
  "password",
  "sessionTicketKeys",
  "keys",
  "genericSecret",
  "hmacSecret",
  "tokenSecret",
  "credential",
]);

/**
 * A resource in protobuf's JSON without keys and passwords. What names a file or an SDS secret is left: it says where, not what.
 */
export function redacted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redacted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      secretFields.has(key) && holdsText(inner) ? "[redacted]" : redacted(inner),
    ]),
  );
}

/** A data source that is inline, or a text. */
function holdsText(value: unknown): boolean {
  if (typeof value === "string") return true;
  if (Array.isArray(value)) return value.some(holdsText);
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(
    ([key, inner]) => key === "inlineString" || key === "inlineBytes" || holdsInner(inner),
  );
}

const holdsInner = (value: unknown): boolean => typeof value === "object" && holdsText(value);
