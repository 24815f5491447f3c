import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createExtensionLists } from "../../../lib/front/polls/extension-lists.ts";
import { createKnownPolls } from "../../../lib/front/polls/known-polls.ts";
import { readPoll } from "../../../lib/front/polls/poll-request.ts";
import { limits } from "../../../lib/limits/limits.ts";
import { propertyRuns } from "../../soak-options.ts";

const captured: { readonly body_raw: string } = JSON.parse(
  readFileSync(new URL("../../captured/envoy/1.40.0/cds.first.raw.json", import.meta.url), "utf8"),
);
const raw = captured.body_raw;
/** A list that is long enough to be known again. */
const extensions = JSON.stringify(
  Array.from({ length: 40 }, (_, at) => ({ name: `envoy.filters.${at}`, type_urls: ["envoy.Filter"] })),
);

/** A body in pieces that end where it says. */
function inPieces(body: string | Uint8Array, ends: readonly number[]) {
  const bytes = Buffer.from(body);
  const cuts = [0, ...ends.map((end) => end % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  const parts = cuts.slice(1).map((end, at) => bytes.subarray(cuts[at], end));
  return { kind: "read", parts } as const;
}

function known(more: Partial<typeof limits> = {}) {
  const lists = createExtensionLists(limits.extensionBytes);
  lists.keep(extensions);
  return createKnownPolls({ ...limits, ...more }, lists);
}

const wholly = (body: string | Uint8Array) => readPoll(new TextDecoder().decode(Buffer.from(body)), limits);

const part = fc.constantFrom(
  ',"id":"c"',
  ',"cluster":"é"',
  ',"metadata":{"a":{"b":["c"]}}',
  `,"metadata":{"a":1,"extensions":${extensions}}`,
  ',"metadata":{"a":1,"extensions":[]}',
  `,"extensions":${extensions}`,
  ',"extensions":[]',
  '},"node":{"id":"b"',
  "\ufeff",
  '"',
);
const opening = fc.constantFrom(
  '{"node":{"id":"a"',
  '{"version_info":"1","node":{"id":"é"',
  '\ufeff{"node":{"id":"a"',
  "{",
);
const closing = fc.constantFrom("}}", '},"type_url":"t"}', '},"version_info":"1"}', "}}\ufeff", "}");
const bodies = fc
  .tuple(opening, fc.array(part, { maxLength: 3 }), closing)
  .map(([start, parts, end]) => start + parts.join("") + end);

describe("a poll that came before", () => {
  it("is the same object when its bytes are the same, in whatever pieces they come", () => {
    const polls = known();
    polls.read(inPieces(raw, []));
    const first = polls.read(inPieces(raw, [65_536]));
    expect("request" in first && first.request.node.id).toBe(JSON.parse(raw).node.id);
    for (const ends of [[], [65_536], [500, 70_000], [77_000]]) expect(polls.read(inPieces(raw, ends))).toBe(first);
    const slim = JSON.stringify({ node: { id: "x" }, version_info: "1" });
    expect(polls.read(inPieces(slim, []))).toBe(polls.read(inPieces(slim, [3])));
  });

  it("is read as a whole read would, whatever came before", () => {
    const polls = known();
    const seen = { taken: 0, refused: 0 };
    fc.assert(
      fc.property(fc.array(bodies, { maxLength: 3 }), fc.array(fc.nat(100_000), { maxLength: 3 }), (before, ends) => {
        for (const body of before) {
          const read = polls.read(inPieces(body, ends));
          const whole = wholly(body);
          seen["request" in whole ? "taken" : "refused"] += 1;
          // What is remembered of a poll is as large as what was read of it.
          if ("request" in read && "request" in whole)
            expect({ ...read.request, bytes: 0 }).toEqual({ ...whole.request, bytes: 0 });
          else expect(read).toEqual(whole);
        }
      }),
      { numRuns: propertyRuns(3_000) },
    );
    expect(Math.min(seen.taken, seen.refused)).toBeGreaterThan(100);
  });

  it("is told from one whose metadata has the list, and from one whose list is empty", () => {
    const polls = known();
    const around = (list: string) => `{"node":{"id":"a","metadata":{"b":1,"extensions":${list}}}}`;
    for (const body of [around("[]"), around(extensions), around("[]"), around(extensions)])
      expect(polls.read(inPieces(body, []))).toMatchObject({
        request: { node: { metadata: JSON.parse(body).node.metadata } },
      });
  });

  it("is told from one with other bytes that a reader of UTF-8 takes for the same", () => {
    const polls = known();
    const body = (byte: number) =>
      Buffer.concat([Buffer.from('{"node":{"id":"a'), Buffer.of(byte), Buffer.from('"}}')]);
    expect(polls.read(inPieces(body(0xff), []))).not.toBe(polls.read(inPieces(body(0xfe), [])));
    expect(polls.read(inPieces(body(0xff), []))).toEqual(wholly(body(0xff)));
  });

  it("is forgotten when others take its room", () => {
    const polls = known({ knownPollBytes: 20_000 });
    const body = (id: number) => inPieces(JSON.stringify({ node: { id: `node-${id}` } }), []);
    const first = polls.read(body(0));
    expect(polls.read(body(0))).toBe(first);
    for (let id = 1; id < 100; id += 1) polls.read(body(id));
    expect(polls.read(body(0))).not.toBe(first);
    expect(polls.read(body(0))).toEqual(first);
  });
});

describe("a poll over a connection", () => {
  const from = {};
  const over = (body: string, connection: object = from) => ({ ...inPieces(body, []), from: connection });
  const slim = '{"node":{"id":"sidecar~10.0.0.1~a.shop~shop.svc"},"version_info":"1"}';

  it("is the one that came over it before when its bytes are, and else what it says", () => {
    const polls = known();
    const first = polls.read(over(slim));
    expect(polls.read(over(slim))).toBe(first);
    const next = slim.replace('"1"', '"2"');
    expect(polls.read(over(next))).toEqual(wholly(next));
    expect(polls.read(over(slim))).toEqual(wholly(slim));
    expect(polls.read(over(slim.slice(0, -1)))).toEqual(wholly(slim.slice(0, -1)));
  });

  it("is known over another connection, too, and what is no poll is none again", () => {
    const polls = known();
    const first = polls.read(over(slim));
    expect(polls.read(over(slim, {}))).toBe(first);
    expect(polls.read(over("{"))).toEqual(wholly("{"));
    expect(polls.read(over("{"))).toEqual(wholly("{"));
  });
});
