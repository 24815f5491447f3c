import { describe, expect, it } from "vitest";
import { compile } from "../../lib/compile/compile.ts";
import { messageText, TextAgain } from "../../lib/compile/text-again.ts";
import { createMemo } from "../../lib/mesh/memo/memo.ts";
import { hashOf } from "../../lib/snapshot/blob.ts";
import { type CompiledResource, type CompiledShape, resourcesIn } from "../../lib/snapshot/compiled.ts";
import { collectAll } from "../collect-garbage.ts";
import { loadCase } from "../conformance/load-case.ts";
import { casesOf } from "../conformance/suites.ts";

/** What was looked at in this turn of the event loop is kept until its end. */
async function collected(): Promise<void> {
  await new Promise(setImmediate);
  collectAll();
}

describe("a text that is made again", () => {
  it("is held as long as it is used, and made anew after a collection", async () => {
    const name = "x".repeat(4096);
    let made = 0;
    const json = {
      get name() {
        made += 1;
        return name;
      },
    };
    const written = new TextAgain("clusters", json);
    expect([written.text, made]).toEqual([messageText("clusters", { name }), 1]);
    await collected();
    expect([written.text, written.text, made]).toEqual([...Array(2).fill(messageText("clusters", { name })), 2]);
  });

  it("is held where it is short", async () => {
    const written = new TextAgain("clusters", {}, ["a", "b"].join(""));
    await collected();
    expect(written.text).toBe("ab");
  });

  it("is the same for every resource of every case, in both shapes", async () => {
    const resources = ["v3", "v3-samples", "gateway-api"]
      .flatMap((suite) => casesOf(suite))
      .flatMap(({ path }) => compile(loadCase(path), [], createMemo()).value.classes)
      .flatMap(({ stream, poll }) => [...whole(stream), ...whole(poll)]);
    await collected();
    const other = resources.filter(({ text, version }) => hashOf(text) !== version);
    expect(other.map(({ name }) => name)).toEqual([]);
    expect(resources.filter(({ text }) => text.length > 1024).length).toBeGreaterThan(1000);
  });
});

/** Without those of many runs, whose versions are made of theirs. */
const whole = (shape: CompiledShape): readonly CompiledResource[] =>
  Object.values(shape).flatMap((list) => resourcesIn(list).filter(({ runs }) => runs === undefined));
