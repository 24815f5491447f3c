import { error, type Finding, type Path } from "../finding.ts";
import { isIpAddress, isIpOrCidr } from "../values/ip-address.ts";
import { isDns1123Label, isLabelKey, isLabelValue, isPortNumber, isWildcardDomain } from "./names.ts";

/**
 * Checks of single values that many kinds share; each yields at most one finding.
 * @see docs/how-istio-does-it/validation.md#single-values
 */
export function* portRules(port: number, path: Path): Generator<Finding> {
  if (!isPortNumber(port)) yield error(path, `port ${port} is not between 1 and 65535`);
}

export function* dnsLabelRules(text: string, path: Path): Generator<Finding> {
  if (!isDns1123Label(text)) {
    const hint = "use letters, digits and -, at most 63, alphanumeric at both ends";
    yield error(path, `${JSON.stringify(text)} is not a DNS label`, hint);
  }
}

export function* wildcardDomainRules(text: string, path: Path): Generator<Finding> {
  if (text === "") yield error(path, "is required", "", "missing-field");
  else if (!isWildcardDomain(text))
    yield error(path, `${JSON.stringify(text)} is not a domain name, with or without wildcard`);
}

export function* ipRules(text: string, path: Path): Generator<Finding> {
  if (!isIpAddress(text)) yield error(path, `${JSON.stringify(text)} is not an IP address`);
}

export function* ipOrCidrRules(text: string, path: Path): Generator<Finding> {
  if (!isIpOrCidr(text)) yield error(path, `${JSON.stringify(text)} is neither an IP address nor a block`);
}

export function* labelSetRules(labels: Readonly<Record<string, string>> | undefined, path: Path): Generator<Finding> {
  for (const [key, value] of Object.entries(labels ?? {})) {
    if (!isLabelKey(key)) yield error([...path, key], `${JSON.stringify(key)} is not a label key`);
    if (!isLabelValue(value)) yield error([...path, key], `${JSON.stringify(value)} is not a label value`);
  }
}

export function* notNegative(value: number | undefined, path: Path): Generator<Finding> {
  if (value !== undefined && value < 0) yield error(path, `${value} must not be negative`);
}

export function* percentRules(value: number | undefined, path: Path): Generator<Finding> {
  if (value !== undefined && (value < 0 || value > 100)) yield error(path, `${value} is not between 0 and 100`);
}

/** Percent with fractions: Envoy counts in steps of a ten-thousandth. */
export function* fractionalPercentRules(value: number | undefined, path: Path): Generator<Finding> {
  if (value === undefined || value === 0) return;
  if (value < 0.0001 || value > 100) yield error(path, `${value} is neither 0 nor between 0.0001 and 100`);
}

/** Applies a check to every element of a list. */
export function* each<T>(
  list: readonly T[] | undefined,
  path: Path,
  check: (element: T, path: Path, index: number) => Iterable<Finding>,
): Generator<Finding> {
  for (const [index, element] of (list ?? []).entries()) yield* check(element, [...path, index], index);
}

/** The elements that occurred before, with their positions. */
export function* duplicates<T>(list: readonly T[]): Generator<readonly [number, T]> {
  const seen = new Set<T>();
  for (const [index, element] of list.entries()) {
    if (seen.has(element)) yield [index, element];
    seen.add(element);
  }
}
