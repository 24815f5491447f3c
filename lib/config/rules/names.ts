/**
 * Letters of either case, digits and `-`, at most 63, alphanumeric at both ends.
 * @see docs/how-istio-does-it/validation.md#single-values
 */
const dns1123Label = /^[a-zA-Z0-9](?:[-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?$/;
const wildcardLabel = /^(?:\*|(?:\*-?)?[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?)$/;
const qualifiedName = /^(?:[-a-zA-Z0-9.]{1,253}\/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const labelValue = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;
/** Characters of a label's value. */
export const longestLabelValue = 63;
const digits = /^\d+$/;

export function isDns1123Label(text: string): boolean {
  return dns1123Label.test(text);
}

/** Key of a label: an optional DNS prefix and a name. */
export function isLabelKey(text: string): boolean {
  if (!qualifiedName.test(text)) return false;
  const slash = text.indexOf("/");
  return slash < 0 || isFqdn(text.slice(0, slash));
}

export function isLabelValue(text: string): boolean {
  return labelValue.test(text);
}

/** Labels joined by dots, the last of them not a bare number; a final dot is allowed. */
export function isFqdn(text: string): boolean {
  return hasValidLabels(text, false);
}

/** As `isFqdn`, but the first label may be `*` or begin with `*` or `*-`. */
export function isWildcardDomain(text: string): boolean {
  return hasValidLabels(text, true);
}

function hasValidLabels(text: string, wildcardFirst: boolean): boolean {
  if (text.length === 0 || text.length > 255) return false;
  const labels = text.split(".");
  const last = labels.length - 1;
  for (let index = 0; index <= last; index++) {
    const label = labels[index] ?? "";
    if (index === last && label === "" && last > 0) continue;
    if (index === 0 && wildcardFirst && label.length <= 63 && wildcardLabel.test(label)) continue;
    if (!isDns1123Label(label)) return false;
  }
  const top = labels[last] === "" ? labels[last - 1] : labels[last];
  return top === undefined || !digits.test(top);
}

/** `*x.com`, `*-x.com`: a wildcard that Envoy cannot match as a suffix at a dot. */
export function isPartialWildcard(text: string): boolean {
  return text.includes("*") && text !== "*" && !text.startsWith("*.");
}

/** After `unix://`: an abstract name `@…`, or an absolute path that names no directory. */
export function isUnixAddress(path: string): boolean {
  return path.startsWith("@") || (path.startsWith("/") && !path.endsWith("/"));
}

export function isPortNumber(port: number): boolean {
  return Number.isInteger(port) && port >= 1 && port <= 65535;
}

/** `host:port`, `[v6]:port`. */
export function isHostPort(text: string): boolean {
  const colon = text.lastIndexOf(":");
  const host = text.slice(0, colon).replace(/^\[(.*)\]$/, "$1");
  return colon > 0 && digits.test(text.slice(colon + 1)) && isPortNumber(Number(text.slice(colon + 1))) && host !== "";
}

/** RFC 7230 token. */
export function isToken(text: string): boolean {
  return /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text);
}

/** The host of an ExternalService of release 0.7 that names blocks of addresses alone: a ServiceEntry needs one. */
export const hostOfBlocks = (name: string): string => `${name}.external`;
