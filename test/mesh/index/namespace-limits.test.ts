import { describe, expect, it, vi } from "vitest";
import type { Config } from "../../../lib/config/config.ts";
import { createMemo, noMemo } from "../../../lib/incremental/memo.ts";
import { withinNamespaceLimits } from "../../../lib/mesh/index/namespace-limits.ts";
import { config } from "../parts.ts";

const times = <T>(count: number, of: (at: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, at) => of(at));

/** 16,384 service ports: as many as one object may have, and a quarter of what its namespace may. */
const entry = (key: string, age: number): Config =>
  config(
    "ServiceEntry",
    key,
    { hosts: times(64, (at) => `h${at}.example`), ports: times(256, (at) => ({ number: at + 1, name: `p${at}` })) },
    age,
  );
const small = (key: string): Config => config("ServiceEntry", key, { hosts: ["a.example"], ports: [] });
/** About 40 MiB of routes. */
const service = (key: string, age: number): Config =>
  config(
    "VirtualService",
    key,
    {
      hosts: times(160, (at) => `h${at}.example`),
      http: times(500, () => ({ match: [{}], route: [{ destination: { host: "x" } }] })),
    },
    age,
  );
const namesOf = (configs: readonly Config[]) => configs.map(({ meta }) => `${meta.namespace}/${meta.name}`);

describe("the objects of a namespace", () => {
  it("are the same list where they are within its limits", () => {
    const configs = [...times(4, (at) => entry(`evil/e${at}`, at)), ...times(4, (at) => service(`evil/v${at}`, at))];
    expect(withinNamespaceLimits(configs, noMemo)).toEqual({ value: configs, diagnostics: [] });
    expect(withinNamespaceLimits(configs, noMemo).value).toBe(configs);
  });

  it.each([
    [
      "ServiceEntries",
      entry,
      /^expands to 16384 service ports, and the older objects of namespace evil to 65536; the limit is 65536/,
    ],
    [
      "VirtualServices",
      service,
      /^expands to \d+ characters of routes, and the older objects of namespace evil to \d+; /,
    ],
  ])("are kept from the oldest on where %s expand to more, whatever their order", (_kind, of, words) => {
    const beside = [entry("shop/e", 0), service("shop/v", 0)];
    const configs = times(5, (at) => of(`evil/x${at}`, at));
    for (const list of [configs, configs.toReversed()]) {
      const { value, diagnostics } = withinNamespaceLimits([...beside, ...list], createMemo());
      expect(namesOf(value).sort()).toEqual(["evil/x1", "evil/x2", "evil/x3", "evil/x4", "shop/e", "shop/v"]);
      expect(diagnostics.map(({ code, origin }) => `${code} ${origin.key.namespace}/${origin.key.name}`)).toEqual([
        "too-large evil/x0",
      ]);
      expect(diagnostics[0]?.message).toMatch(words);
    }
  });

  it("are kept where they still fit behind one that does not", () => {
    const ports = times(300, (at) => ({ number: at + 1, name: `p${at}` }));
    const wide = config("ServiceEntry", "evil/wide", { hosts: times(64, (at) => `h${at}.example`), ports }, 1);
    const configs = [...times(3, (at) => entry(`evil/e${at}`, at + 2)), wide, small("evil/young")];
    expect(namesOf(withinNamespaceLimits(configs, noMemo).value)).toEqual([
      "evil/e0",
      "evil/e1",
      "evil/e2",
      "evil/young",
    ]);
  });

  it("are measured once each, whatever is changed beside them", () => {
    const memo = createMemo();
    const first = service("evil/v0", 0);
    const written = vi.spyOn(JSON, "stringify");
    const measured = (configs: readonly Config[]): number => {
      written.mockClear();
      withinNamespaceLimits(configs, memo);
      return written.mock.calls.length;
    };
    expect(measured([first])).toBe(1);
    expect(measured([first, service("evil/v1", 1)])).toBe(1);
    written.mockRestore();
  });
});
