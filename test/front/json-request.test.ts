import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { depthAt, isRecord, parseRequest } from "../../lib/front/json-request.ts";

/** What stands in a record of Envoy's own requests. */
function recordOf(
  version: string,
  name: string,
): { readonly request?: { readonly body: object }; readonly body_raw?: string } {
  return JSON.parse(readFileSync(new URL(`../captured/envoy/${version}/${name}.json`, import.meta.url), "utf8"));
}

/** The first poll of an Envoy, to the byte. */
const rawOf = (version: string): string => recordOf(version, "cds.first.raw").body_raw ?? "";

/** A recorded request, with all the extensions that its Envoy sent. */
function recorded(name: string): string {
  const body = recordOf("1.40.0", name).request?.body;
  if (!isRecord(body) || !isRecord(body.node)) throw new Error(`${name} records no request`);
  const { extensions } = JSON.parse(rawOf("1.40.0")).node;
  return JSON.stringify({ ...body, node: { ...body.node, extensions } });
}

/** What is read of a request. */
function read(json: unknown) {
  if (!isRecord(json)) return undefined;
  const { version_info, resource_names, type_url, node } = json;
  if (!isRecord(node)) return { version_info, resource_names, type_url, node };
  const { id, cluster, metadata, locality } = node;
  return { version_info, resource_names, type_url, node: { id, cluster, metadata, locality } };
}

function readBoth(body: string) {
  const parsed = parseRequest(body, 100);
  return { quick: "json" in parsed ? read(parsed.json) : undefined, whole: read(JSON.parse(body)) };
}

/** Parts that end and begin things, in keys and values alike. */
const text = fc.string({
  unit: fc.constantFrom("a", "é", "}", "{", "]", "[", '"', "\\", ",", ":", '},"', ',"extensions":['),
  maxLength: 6,
});
const value = fc.oneof(
  text,
  fc.constantFrom(true, 1, null),
  fc.array(fc.oneof(text, fc.record({ name: text, type_urls: fc.array(text, { maxLength: 2 }) })), { maxLength: 2 }),
  fc.dictionary(text, fc.oneof(text, fc.array(text, { maxLength: 2 })), { maxKeys: 2 }),
);
/** An object with some of these members in any order, one of them perhaps a list of extensions. */
const withMembers = (...names: readonly string[]) =>
  fc
    .tuple(fc.shuffledSubarray([...names, "extensions"]), fc.array(value, { minLength: 8, maxLength: 8 }))
    .map(([keys, values]) =>
      Object.fromEntries(keys.map((key, at) => [key, key === "extensions" ? [values[at]] : values[at]])),
    );
const requests = fc
  .tuple(
    withMembers("version_info", "node", "resource_names", "type_url", "error_detail"),
    withMembers("id", "cluster", "metadata", "locality", "client_features", "user_agent_name"),
    withMembers("message", "details"),
  )
  .map(([request, node, detail]) => ({
    ...request,
    ...("node" in request ? { node } : {}),
    ...("error_detail" in request ? { error_detail: detail } : {}),
  }));

describe("parseRequest", () => {
  it.each(["1.36.2", "1.38.3", "1.40.0"])(
    "leaves out what Envoy %s says of its extensions, and nothing else",
    (version) => {
      const body = rawOf(version);
      const parsed = parseRequest(body, 100);
      expect(body.length).toBeGreaterThan(60_000);
      expect("bytes" in parsed && parsed.bytes).toBeLessThan(1_000);
      expect(readBoth(body).quick).toEqual(readBoth(body).whole);
    },
  );

  it.each(["cds", "lds", "rds", "eds"].flatMap((type) => ["ack", "nack"].map((kind) => `${type}.${kind}`)))(
    "reads %s as a whole read does",
    (name) => {
      const { quick, whole } = readBoth(recorded(name));
      expect(quick).toEqual(whole);
    },
  );

  it("reads the same as a whole read, whatever stands where", () => {
    const seen = { quick: 0 };
    fc.assert(
      fc.property(requests, (request) => {
        const body = JSON.stringify(request);
        const parsed = parseRequest(body, 100);
        if ("bytes" in parsed && parsed.bytes < body.length) seen.quick += 1;
        expect(readBoth(body).quick).toEqual(readBoth(body).whole);
      }),
      { numRuns: 5_000 },
    );
    expect(seen.quick).toBeGreaterThan(50);
  });

  it("reads who asks as a whole read does, with blanks between the parts too", () => {
    fc.assert(
      fc.property(requests, (request) => {
        const body = JSON.stringify(request).replaceAll("},", "} , ");
        const { quick, whole } = readBoth(body);
        expect(quick?.node).toEqual(whole?.node);
      }),
      { numRuns: 5_000 },
    );
  });

  it.each([
    ["", "not JSON"],
    ["[]", "not an object"],
    ["null", "not an object"],
    [`{"a":${"[".repeat(100)}${"]".repeat(100)}}`, "deeper than 100 levels"],
    [
      `{"node":{"id":"a","metadata":${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)},"extensions":[]},"type_url":""}`,
      "deeper",
    ],
  ])("says what is wrong with %.40s", (body, problem) => {
    expect(parseRequest(body, 100)).toEqual({ problem: expect.stringContaining(problem) });
  });
});

describe("depthAt", () => {
  it.each([
    ['{"a":[', 2],
    ['{"a":[]', 1],
    ['{"a[":1', 1],
    ['{"a":"{[', 1],
    ['{"a":"\\"{"', 1],
    ['{"a":"\\\\",[', 2],
    ["[[[", 3],
    ["[[[[]", undefined],
  ])("finds in %s what is open at its end", (json, depth) => {
    expect(depthAt(json, json.length, 3)).toBe(depth);
  });
});
