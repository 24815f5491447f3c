import { z } from "zod";

/** Single values as the custom resource definitions bound them. @see https://gateway-api.sigs.k8s.io/reference/spec/ */
const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const subdomainPattern = `${label}(\\.${label})*`;

/** A text with a length and a form. @param what completes "must be" */
export function textOf(what: string, pattern: RegExp, { min = 1, max = 253 } = {}): z.ZodType<string> {
  const fits = (text: string): boolean => text.length >= min && text.length <= max && pattern.test(text);
  return z.string().refine(fits, { error: `must be ${what}${max < 4096 ? `, at most ${max} long` : ""}` });
}

export const anyText = (max: number, min = 0): z.ZodType<string> => textOf(`a text`, /(?:)/, { min, max });
export const objectName = anyText(253, 1);
export const groupName = textOf("an API group", new RegExp(`^$|^${subdomainPattern}$`), { min: 0 });
export const kindName = textOf("the name of a kind", /^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$/, { max: 63 });
export const namespaceName = textOf("the name of a namespace", new RegExp(`^${label}$`), { max: 63 });
/** Of listeners, rules and ports. */
export const sectionName = textOf("lower-case letters, digits, - and .", new RegExp(`^${subdomainPattern}$`));
export const preciseHostname = textOf("a host name in lower case", new RegExp(`^${subdomainPattern}$`));
export const hostname = textOf(
  'a host name in lower case, with or without "*." before it',
  new RegExp(`^(\\*\\.)?${subdomainPattern}$`),
);
export const controllerName = textOf(
  "a domain with a path, example.com/name",
  new RegExp(`^${subdomainPattern}\\/[A-Za-z0-9\\/\\-._~%!$&'()*+,;=:]+$`),
);
/** The definition anchors only its first and last alternatives. */
export const addressType = textOf(
  "Hostname, IPAddress, NamedAddress or domain/name",
  new RegExp(`^Hostname|IPAddress|NamedAddress|${subdomainPattern}\\/[A-Za-z0-9\\/\\-._~%!$&'()*+,;=:]+$`),
);
export const protocolName = textOf(
  "a protocol, or domain/name",
  new RegExp(`^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?$|${subdomainPattern}\\/[A-Za-z0-9]+$`),
  { max: 255 },
);
export const headerName = textOf("the name of a header", /^[A-Za-z0-9!#$%&'*+\-.^_\x60|~]+$/, { max: 256 });
export const headerValue = textOf("visible characters, with single blanks between", /^[!-~]+(?:[\t ][!-~]+)*$/, {
  max: 4096,
});
export const labelValue = textOf("the value of a label", /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/, {
  min: 0,
  max: 63,
});
/** As the Gateway API writes it, `1h30m`. */
export const gatewayDuration = textOf("a duration of h, m, s and ms, such as 10s", /^([0-9]{1,5}(h|m|s|ms)){1,4}$/);
export const wellKnownCertificates = textOf(
  "System, or domain/name",
  new RegExp(`^(System|(${subdomainPattern}/([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]))$`),
);
export const uri = textOf("an absolute URI", /^(([^:/?#]+):)(\/\/([^/?#]*))([^?#]*)(\?([^#]*))?(#(.*))?/);
export const corsOrigin = textOf(
  "*, or an origin with http or https",
  /(^\*$)|(^(http(s)?):\/\/(((\*\.)?([a-zA-Z0-9-]+\.)*[a-zA-Z0-9-]+|\*)(:([0-9]{1,5}))?)$)/,
);

export function wholeNumber(min: number, max = 2_147_483_647): z.ZodType<number> {
  return z.int("must be a whole number").min(min, `must be at least ${min}`).max(max, `must be at most ${max}`);
}
export const portNumber = wholeNumber(1, 65_535);

/** @param max of its elements */
export function listOf<T>(element: z.ZodType<T>, max: number, min = 0): z.ZodType<T[]> {
  return z
    .array(element)
    .max(max, `must have at most ${max} elements`)
    .min(min, `must have at least ${min === 1 ? "one element" : `${min} elements`}`);
}

/** A list whose elements are told apart by some of their fields, or by themselves. */
export function uniqueListOf<T>(
  element: z.ZodType<T>,
  max: number,
  identityOf: (element: T) => string,
  min = 0,
): z.ZodType<T[]> {
  return listOf(element, max, min).refine((list) => new Set(list.map(identityOf)).size === list.length, {
    error: "must not name one thing twice",
  });
}

export function mapOf(value: z.ZodType<string>, max: number, min = 0): z.ZodType<Record<string, string>> {
  return z
    .record(z.string(), value)
    .refine((map) => Object.keys(map).length >= min, { error: `must have at least ${min} members` })
    .refine((map) => Object.keys(map).length <= max, { error: `must have at most ${max} members` });
}

type Shape = Readonly<Record<string, z.ZodType>>;

/** An object with required fields, and others that may be absent. */
export function fields<R extends Shape, O extends Shape>(
  required: R,
  other: O,
): z.ZodType<{ [K in keyof R]: z.output<R[K]> } & { [K in keyof O]?: z.output<O[K]> }> {
  const optional = Object.fromEntries(Object.entries(other).map(([name, schema]) => [name, z.exactOptional(schema)]));
  // The shape is assembled at run time, so its type is stated here, once, instead of being inferred.
  return z.strictObject({ ...required, ...optional }) as unknown as z.ZodType<
    { [K in keyof R]: z.output<R[K]> } & { [K in keyof O]?: z.output<O[K]> }
  >;
}
