import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isRecord } from "../../../lib/base/classifier.ts";
import {
  createExtensionLists,
  type ExtensionLists,
  noExtensionLists,
} from "../../../lib/front/polls/extension-lists.ts";
import { depthAt, parseRequest } from "../../../lib/front/polls/json-request.ts";
import { propertyRuns } from "../../soak-options.ts";

/** What stands in a record of Envoy's own requests. */
function recordOf(
  version: string,
  name: string,
): { readonly request?: { readonly body: object }; readonly body_raw?: string } {
  return JSON.parse(readFileSync(new URL(`../../captured/envoy/${version}/${name}.json`, import.meta.url), "utf8"));
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

/** What is read when it comes for the second time, and what a whole read reads; undefined where it is no request. */
function readBoth(body: string, lists = createExtensionLists(maxBytes)) {
  const readWith = (known: ExtensionLists) => {
    const parsed = parseRequest(body, 100, known);
    return "json" in parsed ? { said: read(parsed.json), bytes: parsed.bytes } : undefined;
  };
  const first = readWith(lists);
  const quick = readWith(lists);
  expect(quick).toEqual(first);
  return { quick: quick?.said, whole: readWith(noExtensionLists)?.said };
}

const maxBytes = 2 * 1024 * 1024;
/** A list that is long enough to be known again. */
const entries = Array.from({ length: 40 }, (_, at) => ({ name: `envoy.filters.${at}`, type_urls: ["envoy.Filter"] }));
const knownList = JSON.stringify(entries);

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

/** Pieces that requests are made of, whole and broken. */
const part = fc.constantFrom(
  '{"node":{"id":"a"',
  '{"node":{',
  '"id":"b"',
  ',"id":"c"',
  ',"metadata":{"a":{"b":["c"]}}',
  ',"extensions":[1]',
  `,"extensions":${knownList}`,
  "}",
  '},"type_url":"t"}',
  '},"node":{"id":"d"}}',
  "]",
  "[",
  ",",
  '"',
  "\\",
  '\\"',
  '"x]},"',
  "\\ud83d",
  " ",
);

/** Mostly none, so that many a text is JSON. */
const fewParts = fc.oneof(
  { weight: 3, arbitrary: fc.constant("") },
  fc.array(part, { maxLength: 3 }).map((parts) => parts.join("")),
);
const opening = fc.constantFrom(
  '{"node":{"id":"a"',
  '{"node":{"id":"a","metadata":{"a":[{}]}',
  '{"a":{"b":"},\\""',
  "",
);
const closing = fc.constantFrom("}}", '},"type_url":"t"}', ',"id":"b"}}', ',"extensions":[]},"node":{"id":"e"}}', "");

const isJson = (body: string) => {
  try {
    return typeof JSON.parse(body) === "object";
  } catch {
    return false;
  }
};

describe("parseRequest", () => {
  it.each(["1.36.2", "1.38.3", "1.40.0"])(
    "leaves out what Envoy %s says of its extensions, but whose they are, and nothing else",
    (version) => {
      const body = rawOf(version);
      const lists = createExtensionLists(maxBytes);
      for (let times = 0; times < 2; times += 1) {
        const parsed = parseRequest(body, 100, lists);
        expect(body.length).toBeGreaterThan(60_000);
        expect("bytes" in parsed && parsed.bytes).toBeLessThan(1_000);
        expect("json" in parsed && isRecord(parsed.json.node) && parsed.json.node.extensions).toHaveLength(
          times === 0 ? JSON.parse(body).node.extensions.length : 1,
        );
      }
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
    fc.assert(
      fc.property(requests, (request) => {
        const body = JSON.stringify(request).replace('"extensions":[', `"extensions":[${knownList.slice(1, -1)},`);
        expect(readBoth(body).quick).toEqual(readBoth(body).whole);
      }),
      { numRuns: propertyRuns(3_000) },
    );
  });

  it("takes and refuses what a whole read does, however a text is put together around a list that it knows", () => {
    const lists = createExtensionLists(maxBytes);
    lists.keep(knownList);
    const seen = { taken: 0, refused: 0 };
    fc.assert(
      fc.property(fewParts, opening, fewParts, closing, fewParts, (first, start, before, end, behind) => {
        const body = `${first}${start}${before},"extensions":${knownList}${behind}${end}`;
        const parsed = parseRequest(body, 100, lists);
        const whole = parseRequest(body, 100);
        expect("json" in parsed ? read(parsed.json) : parsed).toEqual("json" in whole ? read(whole.json) : whole);
        seen["json" in whole ? "taken" : "refused"] += 1;
      }),
      { numRuns: propertyRuns(10_000) },
    );
    expect(Math.min(seen.taken, seen.refused)).toBeGreaterThan(100);
  });

  it.each([
    ["a second id behind it", `{"node":{"id":"a","extensions":${knownList},"id":"b","x":[]},"type_url":""}`],
    ["a second id behind it, escaped", `{"node":{"id":"a","extensions":${knownList},"\\u0069d":"b","x":[]},"a":1}`],
    ["a second list", `{"node":{"id":"a","extensions":${knownList},"extensions":[1]},"a":1}`],
    ["another node behind it", `{"node":{"id":"a","extensions":${knownList}},"node":{"id":"b"}}`],
    ["it in a text", `{"node":{"id":"a,\\"extensions\\":${knownList.replaceAll('"', '\\"')}"},"a":1}`],
    ["a text that is open before it", `{"node":{"id":"a,"extensions":${knownList}},"type_url":"b"}`],
    ["half a pair of surrogates before it", `{"node":{"id":"\\ud83d","cluster":"\ud83d","extensions":${knownList}}}`],
    ["it among the versions of a delta", `{"initial_resource_versions":{"a":"1","extensions":${knownList}}}`],
    ["more in the list than is known", `{"node":{"id":"a","extensions":${knownList.slice(0, -1)},1]},"a":1}`],
    ["an end too many", `{"node":{"id":"a","extensions":${knownList}]},"a":1}`],
    ["no end", `{"node":{"id":"a","extensions":${knownList}`],
    ["a list that breaks off", `{"node":{"id":"a","extensions":${knownList.slice(0, -1)}`],
    ["an end of the object in a name", `{"node":{"id":"a","extensions":["x]},",":1,"]},"type_url":"b"}`],
  ])("reads what a whole read reads with %s", (_what, body) => {
    const lists = createExtensionLists(maxBytes);
    lists.keep(knownList);
    const { quick, whole } = readBoth(body, lists);
    expect(quick).toEqual(whole);
    const parsed = parseRequest(body, 100);
    expect("problem" in parsed).toBe(!isJson(body));
  });

  it("reads who asks as a whole read does, with blanks between the parts too", () => {
    fc.assert(
      fc.property(requests, (request) => {
        const body = JSON.stringify(request).replaceAll("},", "} , ");
        const { quick, whole } = readBoth(body);
        expect(quick?.node).toEqual(whole?.node);
      }),
      { numRuns: propertyRuns(5_000) },
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

describe("lists of extensions", () => {
  const listOf = (name: string) => JSON.stringify(entries.map((entry) => ({ ...entry, category: name })));

  it("are kept as long as there is room, those that were met last", () => {
    const all = ["a", "b", "c", "d", "e"].map(listOf);
    const [first = ""] = all;
    const lists = createExtensionLists(4 * 2 * first.length);
    for (const list of all.slice(0, 4)) lists.keep(list);
    expect(lists.listAt(`x${first}`, 1)?.length).toBe(first.length);
    for (const list of all.slice(4)) lists.keep(list);
    expect(all.filter((list) => lists.listAt(list, 0) === undefined)).toEqual(all.slice(1, 2));
  });

  it("are not kept when one would take a large part of the room", () => {
    const lists = createExtensionLists(knownList.length);
    lists.keep(knownList);
    expect(lists.listAt(knownList, 0)).toBeUndefined();
  });
});
