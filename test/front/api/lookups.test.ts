import { describe, expect, it } from "vitest";
import { frontApp } from "../../../lib/front/app.ts";
import { createFront } from "../../../lib/front/front.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";

const lookup = (of: string, state: "fresh" | "stale" | "missing") => ({ kind: "jwks", of, state, keys: 1 }) as const;

/** What the API of a front that is given these answers. */
async function answer(query: string, lookups?: () => Promise<readonly ReturnType<typeof lookup>[]>) {
  const app = frontApp(createFront({ store: memoryStore(), lookups }));
  return (await app.request(`http://127.0.0.1/api/lookups${query}`)).json();
}

describe("GET /api/lookups", () => {
  it("has what fails first, a page at a time", async () => {
    const all = async () => [lookup("a", "fresh"), lookup("b", "stale"), lookup("c", "missing"), lookup("d", "fresh")];
    expect(await answer("", all)).toMatchObject({
      isRead: true,
      total: 4,
      lookups: [{ of: "c" }, { of: "b" }, { of: "a" }, { of: "d" }],
    });
    expect(await answer("?offset=1&limit=2", all)).toMatchObject({ total: 4, lookups: [{ of: "b" }, { of: "a" }] });
  });

  it("says where nobody reads them, which is not that there are none", async () => {
    expect(await answer("")).toEqual({ isRead: false, total: 0, lookups: [] });
  });
});
