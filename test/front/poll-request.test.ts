import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { glimpsePoll, readPoll } from "../../lib/front/poll-request.ts";

const recorded = (version: string, name: string): string => {
  const url = new URL(`../captured/envoy/${version}/${name}`, import.meta.url);
  const file: { readonly request?: { readonly body: unknown }; readonly body_raw?: string } = JSON.parse(
    readFileSync(url, "utf8"),
  );
  return file.body_raw ?? JSON.stringify(file.request?.body);
};

/** Parts of real and near-real bodies, so that damage and disorder hit what matters. */
const plain = fc.string({ unit: fc.constantFrom("a", "~", ".", "é", "}", "{", '"', "\\", ",", ":") });
const requests = fc.record(
  {
    version_info: plain,
    node: fc.record(
      { id: plain, cluster: plain, metadata: fc.dictionary(plain, plain), type_url: plain },
      { requiredKeys: [] },
    ),
    resource_names: fc.array(plain, { maxLength: 2 }),
    type_url: plain,
    error_detail: fc.record({ message: plain }),
  },
  { requiredKeys: [] },
);
const shuffled = requests.chain((request) =>
  fc.shuffledSubarray(Object.entries(request)).map((entries) => JSON.stringify(Object.fromEntries(entries))),
);

/** What the whole body says, in the form of a glimpse. */
function whole(body: string) {
  const read = readPoll(body);
  if ("problem" in read) return undefined;
  const { version, names, typeUrl, node } = read.request;
  return { version, names, typeUrl, nodeId: node.id, nodeCluster: node.cluster };
}

describe("glimpsePoll", () => {
  it.each(["1.36.2", "1.38.3", "1.40.0"])("sees what Envoy %s asks without reading its 60 KB and more", (version) => {
    const first = recorded(version, "cds.first.raw.json");
    expect(first.length).toBeGreaterThan(60_000);
    expect(glimpsePoll(first)).toBeUndefined();
    const body = first.replace("{", '{"version_info":"v1",');
    expect(glimpsePoll(body)).toEqual(whole(body));
  });

  it.each(["cds", "lds", "rds", "eds"].flatMap((type) => ["ack", "nack"].map((kind) => `${type}.${kind}`)))(
    "sees what %s asks",
    (name) => {
      const body = recorded("1.40.0", `${name}.json`);
      expect(glimpsePoll(body)).toEqual(whole(body));
    },
  );

  it("sees the same as a full read wherever it sees anything, in any order of the fields", () => {
    fc.assert(
      fc.property(shuffled, (body) => {
        const glimpse = glimpsePoll(body);
        // A node without id is a problem for the full read; the glimpse leaves saying so to whoever places the node.
        const expected = whole(body);
        if (glimpse === undefined || expected === undefined) return;
        const { names } = glimpse.names.length === 0 ? glimpse : expected;
        expect(glimpse).toEqual({ ...expected, names });
      }),
      { numRuns: 2_000 },
    );
  });

  it("never sees in a damaged body what its two ends do not say", () => {
    const body = recorded("1.40.0", "rds.ack.json");
    fc.assert(
      fc.property(fc.nat(body.length), fc.nat(40), plain, (at, cut, insert) => {
        const damaged = body.slice(0, at) + insert + body.slice(at + cut);
        const glimpse = glimpsePoll(damaged);
        if (glimpse === undefined) return;
        const expected = whole(damaged);
        if (expected !== undefined) {
          expect(glimpse).toEqual({ ...expected, names: glimpse.names.length === 0 ? [] : expected.names });
        } else {
          expect(damaged.slice(0, 1024)).toContain(`"id":"${glimpse.nodeId}"`);
          expect(damaged.slice(-1024)).toContain(`"type_url":"${glimpse.typeUrl}"}`);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ["blanks", '{ "version_info":"1", "node": {"id":"a","cluster":"b"},"type_url":"t"}'],
    ["another order", '{"type_url":"t","version_info":"1","node":{"id":"a","cluster":"b"}}'],
    ["camelCase", '{"versionInfo":"1","node":{"id":"a","cluster":"b"},"typeUrl":"t"}'],
    ["an escape in the id", '{"version_info":"1","node":{"id":"a\\u0062","cluster":"b"},"type_url":"t"}'],
    ["two names", '{"version_info":"1","node":{"id":"a","cluster":"b"},"resource_names":["x","y"],"type_url":"t"}'],
  ])("leaves %s to the full read", (_what, body) => {
    expect(glimpsePoll(body)).toBeUndefined();
    expect(whole(body)).toBeDefined();
  });
});

describe("readPoll", () => {
  it("takes both spellings of field names", () => {
    const read = readPoll(
      '{"versionInfo":"1","node":{"id":"a","locality":{"region":"r","subZone":"s"}},"resourceNames":["x"],"typeUrl":"t"}',
    );
    expect(read).toEqual({
      request: {
        version: "1",
        names: ["x"],
        typeUrl: "t",
        node: { id: "a", cluster: "", metadata: {}, locality: "r//s" },
      },
    });
  });

  it.each([
    ["", "not JSON"],
    ["[]", "not a DiscoveryRequest"],
    ["null", "not a DiscoveryRequest"],
    ["{}", "no id"],
    ['{"node":{"id":""}}', "no id"],
    ['{"node":{"id":"a"},"version_info":1}', "version_info"],
    ['{"node":{"id":"a"},"resource_names":"x"}', "resource_names"],
    ['{"node":{"id":"a"},"type_url":{}}', "type_url"],
  ])("says what is wrong with %j", (body, problem) => {
    expect(readPoll(body)).toEqual({ problem: expect.stringContaining(problem) });
  });
});
