import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { fieldsOf } from "../../../../lib/base/untyped.ts";
import { schemaOf } from "../../../../lib/config/kind-registry.ts";
import { sameValue } from "../../../../lib/registry/changes/same.ts";
import { gatewayApiFolder, gatewayApiReleases } from "../../../servers/server-binaries.ts";
import { lacks } from "../../../skip.ts";
import { type DefinedField, type DefinedKind, readDefinitions, writeDefinitions } from "./definition-digest.ts";
import { definitionsIn } from "./definitions-in.ts";

const digests = (["1.5", "1.6", "1.7"] as const).map((release) => {
  const text = readFileSync(new URL(`fields-${release}.txt`, import.meta.url), "utf8");
  return { release, text, kinds: readDefinitions(text) };
});
const newest = digests.at(-1);

describe("the digest of the Gateway API's CustomResourceDefinitions", () => {
  it.each(digests)("of $release is read back as it was written", ({ text, kinds }) => {
    expect(writeDefinitions(kinds)).toBe(text);
  });

  const fetched = gatewayApiReleases.map((release) => [release, gatewayApiFolder(release)] as const);
  const absent = fetched.filter(([, folder]) => folder === undefined).map(([release]) => release);
  it.skipIf(
    lacks(absent.length === 0, `the Gateway API's definitions ${absent.join()}: npm run test:servers fetches them`),
  )("says what the definitions say", () => {
    const written = fetched.map(([, folder = ""]) => writeDefinitions(definitionsIn(folder)));
    expect(written).toEqual(digests.map(({ text }) => text));
  });
});

describe("the schemas, against the Gateway API's definitions", () => {
  const all = digests.flatMap(({ release, kinds }) =>
    kinds.map((defined) => [defined.kind, release, defined] as const),
  );
  it.each(all)("take what those take of %s of %s, field by field", (_kind, release, defined) => {
    const schema = schemaFor(defined);
    // An older version of a kind that is served no more is still read.
    expect(schema.versions).toEqual(expect.arrayContaining([...defined.versions]));
    if (release === newest?.release) expect(schema.versions[0]).toBe(defined.versions[0]);
    const found = defined.fields.flatMap((field) => complaints(field, schema.schema, defined));
    expect(found.map((line) => `${defined.kind} ${line}`).toSorted()).toEqual(
      [...Object.keys(chosen), ...Object.keys(chosenOf[release])]
        .filter((line) => line.startsWith(`${defined.kind} `))
        .toSorted(),
    );
  });
});

/** Where we take what they do not, or the other way round. */
const chosen: Readonly<Record<string, string>> = {
  "TLSRoute spec.hostnames is required, and not read so": "versions before v1 need none; a rule asks for them in v1",
  "TLSRoute spec.hostnames with 0 elements is read": "the same",
  "TLSRoute spec.rules with 2 elements is read": "versions before v1 have up to 16; a rule asks for one in v1",
};

const persistent = ["GRPCRoute spec.rules[]", "HTTPRoute spec.rules[]", "XBackendTrafficPolicy spec"];

/** Members of session persistence that a release does not have. */
const persistenceOf = (names: readonly string[], why: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    persistent.flatMap((at) => names.map((name) => [`${at}.sessionPersistence.${name} is no field of theirs`, why])),
  );

const before17: Readonly<Record<string, string>> = {
  ...persistenceOf(["cookie", "header"], "1.7 has it"),
  "Gateway spec.addresses[].routability is no field of theirs": "1.7 has it",
  "Gateway spec.listeners[].filters is no field of theirs": "1.7 has it",
  "ListenerSet spec.listeners[].filters is no field of theirs": "1.7 has it",
  "HTTPRoute spec.rules[].filters[].externalAuth.forwardBody.maxSize with -1 is refused": "1.7 refuses it",
  "HTTPRoute spec.rules[].backendRefs[].filters[].externalAuth.forwardBody.maxSize with -1 is refused": "the same",
};

/** The same of one release: what another one takes is taken, since a cluster has checked its objects by the definitions that it has. */
const chosenOf: Readonly<Record<(typeof digests)[number]["release"], Readonly<Record<string, string>>>> = {
  "1.5": {
    ...before17,
    "Gateway spec.infrastructure.annotations with 9 members is read": "1.6 takes 16",
    "Gateway spec.tls.frontend.default.validation.caCertificateRefs with 9 elements is read": "1.6 takes 16",
    "Gateway spec.tls.frontend.perPort[].tls.validation.caCertificateRefs with 9 elements is read": "1.6 takes 16",
    "TLSRoute spec.hostnames with 17 elements is read": "1.6 takes 1024",
  },
  "1.6": {
    ...before17,
    ...persistenceOf(["idleTimeout"], "1.5 has it"),
    "XBackend spec.endpointSelector is no field of theirs": "1.7 has it",
    "XBackend spec.port.number is no field of theirs": "1.7 calls it so",
    "XBackend spec.port.port is required, and not read so": "the same; a rule asks for one of the two",
    "XBackend spec.sessionPersistence is no field of theirs": "1.7 has it",
    "HTTPRoute spec.rules[].retry.attempts with 0 is read": "1.5 takes any number",
    "HTTPRoute spec.rules[].retry.codes with the same twice is read": "1.5 takes them",
    "TCPRoute spec.rules with 2 elements is read": "v1alpha2 has up to 16; a rule asks for one in v1",
  },
  "1.7": {
    ...persistenceOf(["idleTimeout", "cookieConfig", "sessionName"], "1.5 or 1.6 has it"),
    "XBackend spec.port.port is no field of theirs": "1.6 calls it so",
    "XBackend spec.port.name is no field of theirs": "1.6 has it",
    "XBackend spec.tls.validation.caCertificateRefs with 0 elements is read": "1.6 takes it; a rule asks for one",
    "BackendTLSPolicy spec.validation.caCertificateRefs with 0 elements is read": "the same",
    "HTTPRoute spec.rules[].retry.attempts with -1 is read": "1.5 takes any number",
    "HTTPRoute spec.rules[].retry.codes with the same twice is read": "1.5 takes them",
    "HTTPRoute spec.rules[].retry.attempts is 1 where it is absent, and read as undefined":
      "a cluster with 1.7 fills it in; without, it is Istio's 2, as recorded with 1.6",
    "TCPRoute spec.rules with 2 elements is read": "v1alpha2 has up to 16; a rule asks for one in v1",
  },
};

function schemaFor({ group, kind }: DefinedKind) {
  const schema = schemaOf(group, kind);
  if (schema === undefined) throw new Error(`${kind} has no schema`);
  return schema;
}

/** A schema without what wraps it. */
function bare(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodPipe) return bare(schema.in);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodExactOptional || schema instanceof z.ZodDefault) {
    return bare(schema.unwrap());
  }
  return schema;
}

/** The part of a schema at a path, as it is written there; undefined where nothing is read. */
function schemaAt(schema: z.core.$ZodType, steps: readonly string[]): z.core.$ZodType | undefined {
  const [step, ...others] = steps;
  if (step === undefined) return schema;
  const whole = bare(schema);
  if (step === "[]") return whole instanceof z.ZodArray ? schemaAt(whole.element, others) : undefined;
  if (step === "{}") return whole instanceof z.ZodRecord ? schemaAt(whole.valueType, others) : undefined;
  if (!(whole instanceof z.ZodObject)) return undefined;
  const member: z.core.$ZodType | undefined = Object.hasOwn(whole.shape, step) ? whole.shape[step] : undefined;
  return member === undefined ? undefined : schemaAt(member, others);
}

/** Steps from the spec on. */
const stepsOf = (path: string): readonly string[] => path.split(/\.|(?=\[\]|\{\})/).slice(1);

const takes = (schema: z.core.$ZodType, value: unknown): boolean => z.safeParse(schema, value).success;

/** Everything in which a field of ours differs from what a definition says of it. */
function complaints({ path, type, says }: DefinedField, spec: z.core.$ZodType, kind: DefinedKind): readonly string[] {
  const schema = schemaAt(spec, stepsOf(path));
  if (schema === undefined) return [`${path} is not read`];
  const found: string[] = [];
  const compare = (value: unknown, isTaken: boolean, what: string): void => {
    if (takes(schema, value) !== isTaken) found.push(`${path} with ${what} is ${isTaken ? "refused" : "read"}`);
  };
  if ("default" in says) {
    const read = z.safeParse(schema, undefined);
    if (!sameValue(read.data, says.default)) {
      found.push(
        `${path} is ${JSON.stringify(says.default)} where it is absent, and read as ${JSON.stringify(read.data)}`,
      );
    }
  }
  switch (type) {
    case "string":
      for (const value of [...texts, ...(says.enum ?? [])])
        compare(value, isText(value, says), JSON.stringify(value).slice(0, 80));
      break;
    case "integer":
      for (const value of numbers(says)) compare(value, isWhole(value, says), String(value));
      break;
    case "boolean":
      for (const value of [true, false, "true", 1]) compare(value, typeof value === "boolean", String(value));
      break;
    case "array":
      for (const count of counts(says.minItems, says.maxItems)) {
        const list = samples(kind, `${path}[]`, count);
        compare(list, isWithin(count, says.minItems, says.maxItems), `${count} elements`);
      }
      if (says["x-kubernetes-list-type"] !== "atomic" && says["x-kubernetes-list-type"] !== undefined) {
        const [one] = samples(kind, `${path}[]`, 1);
        compare([one, one], false, "the same twice");
      }
      break;
    case "object": {
      const fields = new Map(kind.fields.map((field) => [field.path, field]));
      const { minProperties = 0, maxProperties } = says;
      if (maxProperties !== undefined)
        for (const count of [0, minProperties, maxProperties, maxProperties + 1])
          compare(members(kind, path, count), isWithin(count, minProperties, maxProperties), `${count} members`);
      if (fields.has(`${path}{}`)) break;
      const whole = sample(kind, path, 0);
      compare(whole, true, JSON.stringify(whole));
      for (const name of says.required ?? []) {
        const isFilled = fields.get(`${path}.${name}`)?.says.default !== undefined;
        const { [name]: _left, ...rest } = fieldsOf(whole);
        if (takes(schema, rest) !== isFilled) found.push(`${path}.${name} is required, and not read so`);
      }
      const own = bare(schema);
      const more = own instanceof z.ZodObject ? Object.keys(own.shape) : [];
      for (const name of more) if (!fields.has(`${path}.${name}`)) found.push(`${path}.${name} is no field of theirs`);
      compare({ ...fieldsOf(whole), other: 1 }, false, "an unknown field");
      break;
    }
    default:
      found.push(`${path} is of type ${type}, which was not met before`);
  }
  return found;
}

const isWithin = (size: number, min = 0, max = Number.POSITIVE_INFINITY): boolean => size >= min && size <= max;

const isText = (value: unknown, says: DefinedField["says"]): boolean =>
  typeof value === "string" &&
  isWithin([...value].length, says.minLength, says.maxLength) &&
  (says.pattern === undefined || new RegExp(says.pattern).test(value)) &&
  (says.enum === undefined || says.enum.includes(value));

const isWhole = (value: unknown, { minimum, maximum, enum: values }: DefinedField["says"]): boolean =>
  typeof value === "number" &&
  Number.isInteger(value) &&
  isWithin(value, minimum ?? Number.NEGATIVE_INFINITY, maximum) &&
  (values === undefined || values.includes(value));

const numbers = ({ minimum = 0, maximum = 70_000, enum: values = [] }: DefinedField["says"]): readonly unknown[] => [
  minimum - 1,
  minimum,
  minimum + 1,
  maximum,
  maximum + 1,
  1.5,
  "1",
  ...values,
];

const counts = (min = 0, max = 2): readonly number[] => [0, 1, min, max, max + (max === 2 ? 0 : 1)];

const long = [63, 64, 128, 129, 253, 254, 255, 256, 257, 1024, 1025, 4096, 4097].map((length) => "a".repeat(length));
/** Texts that some fields take and others do not. */
const texts: readonly unknown[] = [
  ...[
    "",
    "a",
    "A",
    "1",
    "-",
    "a-",
    "-a",
    "a.b",
    "a..b",
    ".a",
    "a_b",
    "a b",
    "a\tb",
    "a  b",
    " a",
    "a ",
    "é",
    "a\n",
    "𝒳",
  ],
  ...[
    "*",
    "*.a",
    "*.a.b",
    "a.*",
    "**.a",
    "a.example.com",
    "A.example.com",
    "10.0.0.1",
    "a:80",
    "/",
    "/a",
    "a/b",
    "a/b/c",
    "a//b",
  ],
  ...[
    "Service",
    "Gateway",
    "HTTPRoute",
    "Two Words",
    "kind.with.dots",
    "HTTP",
    "HTTPS",
    "example.com/HTTP",
    "example.com/a-b",
  ],
  ...["Hostname", "IPAddress", "NamedAddress", "Hostnames", "xIPAddress", "System", "example.com/x_y", "example.com/"],
  ...["1s", "1h30m", "10ms", "100000s", "1d", "1.5s", "1h1m1s1ms", "1h1m1s1ms1h", "-1s", "0s"],
  ...[
    "http://a",
    "https://*.a.b:8443",
    "https://*",
    "ftp://a",
    "http://a/b",
    "http://a:123456",
    "null",
    "spiffe://a/b",
    "a:b",
  ],
  ...[
    "x-header",
    "x~!#$%&'*+^`|",
    "x(",
    "a,b",
    "%41",
    "%4",
    "100%",
    "\u0000",
    "a\u007f",
    "Exact",
    "PathPrefix",
    "GET",
    "get",
  ],
  ...[...long, ...long.map((name) => `${name.slice(2)}.a`), ...long.map((name) => `/${name.slice(1)}`)],
  5,
  null,
  true,
];

/** The n-th text, number or object that a definition takes at a path, each another one. */
function sample(kind: DefinedKind, path: string, n: number): unknown {
  const field = kind.fields.find((one) => one.path === path);
  if (field === undefined) throw new Error(`there is no ${path}`);
  const { type, says } = field;
  switch (type) {
    case "string": {
      const values = [
        ...(says.enum ?? []),
        `a${n}`,
        `a${n}.b`,
        `/a${n}`,
        `example.com/a${n}`,
        `${n}s`,
        `http://a${n}`,
        `a:${n}`,
        "System",
      ];
      return values.find((value) => isText(value, says));
    }
    case "integer":
      return says.enum?.[0] ?? Math.max(says.minimum ?? 0, 0) + n;
    case "boolean":
      return true;
    case "array":
      return samples(kind, `${path}[]`, says.minItems ?? 0);
    default: {
      if (kind.fields.some((one) => one.path === `${path}{}`)) return members(kind, path, says.minProperties ?? 0);
      const keys = kind.fields.find((one) => `${one.path}[]` === path)?.says["x-kubernetes-list-map-keys"] ?? [];
      const wanted = [...new Set([...(says.required ?? []), ...keys])];
      return Object.fromEntries(wanted.map((name) => [name, sample(kind, `${path}.${name}`, n)]));
    }
  }
}

const samples = (kind: DefinedKind, path: string, count: number): readonly unknown[] => {
  const values = kind.fields.find((one) => one.path === path)?.says.enum;
  return Array.from({ length: count }, (_, n) => values?.[n % values.length] ?? sample(kind, path, n));
};

const members = (kind: DefinedKind, path: string, count: number): object =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`a${n}`, sample(kind, `${path}{}`, n)]));
