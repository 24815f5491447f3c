import { beforeAll, describe, expect, it } from "vitest";
import { type Authority, rootsOf, type Signer } from "../../lib/ca/authority.ts";
import { makeSigner } from "../../lib/ca/make-signer.ts";
import { activateNext, addNext, dropNext, retirePrevious } from "../../lib/ca/rotation.ts";

const startMs = Date.parse("2026-03-01T12:00:00Z");
const day = 24 * 3_600_000;
const margin = 5 * 60_000;

describe("a rotation of the CA", () => {
  let authority: Authority;
  let next: Signer;
  beforeAll(async () => {
    authority = { version: 1, trustDomain: "cluster.local", active: await makeSigner("cluster.local", startMs) };
    next = await makeSigner("cluster.local", startMs);
  });

  it("trusts both roots from the first step to the last, each for as long as certificates of it are valid", () => {
    const { active } = authority;
    const added = addNext(authority, next);
    expect(rootsOf(added)).toEqual([active.certificate, next.certificate]);
    const early = { nowMs: startMs + day + margin - 1, longestMs: day };
    expect(() => activateNext(added, early)).toThrow("wait until 2026-03-02T12:05:00.000Z");
    const atMs = startMs + day + margin;
    const activated = activateNext(added, { nowMs: atMs, longestMs: day });
    expect(activated.active).toEqual(next);
    expect(JSON.stringify(activated)).not.toContain(JSON.stringify(active.key));
    expect(rootsOf(activated)).toEqual([next.certificate, active.certificate]);
    const soon = { nowMs: atMs + day + margin - 1, longestMs: day };
    expect(() => retirePrevious(activated, soon)).toThrow("still valid; wait until 2026-03-03T12:10:00.000Z");
    const done = retirePrevious(activated, { nowMs: atMs + day + margin, longestMs: day });
    expect(done).toEqual({ ...authority, active: next });
  });

  it("waits for nothing where it is forced to, and where workloads trust the root already", () => {
    const forced = { nowMs: startMs, longestMs: day, force: true };
    expect(rootsOf(retirePrevious(activateNext(addNext(authority, next), forced), forced))).toEqual([next.certificate]);
    const below = { ...next, roots: authority.active.roots };
    expect(activateNext(addNext(authority, below), { nowMs: startMs, longestMs: day }).active).toEqual(below);
  });

  it("refuses a step that is not the next one", () => {
    const forced = { nowMs: startMs, longestMs: day, force: true };
    expect(() => addNext(addNext(authority, next), next)).toThrow("portolan ca activate");
    expect(() => activateNext(authority, forced)).toThrow("portolan ca init --next");
    expect(() => retirePrevious(authority, forced)).toThrow("nothing to retire");
    expect(() => dropNext(authority)).toThrow("no next CA");
    const rotated = activateNext(addNext(authority, next), forced);
    expect(() => activateNext(addNext(rotated, next), forced)).toThrow("portolan ca retire");
    expect(dropNext(addNext(authority, next))).toEqual(authority);
  });
});
