import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSubsetHost } from "../../../lib/config/values/host-name.ts";
import { hostTable, mostSpecific } from "../../../lib/mesh/hosts/host-table.ts";

const label = fc.constantFrom("a", "b", "ab");
const plain = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join("."));
const host = fc.oneof(
  plain,
  plain.map((name) => `*.${name}`),
  plain.map((name) => `*${name}`),
  fc.constant("*"),
);

describe("the most specific host", () => {
  it("is the exact one, else the longest wildcard that covers the name", () => {
    fc.assert(
      fc.property(fc.uniqueArray(host, { maxLength: 12 }), host, (hosts, name) => {
        const covering = hosts.filter((of) => (of.startsWith("*") ? isSubsetHost(name, of) : of === name));
        const exact = covering.find((of) => of === name);
        const longest = exact ?? covering.sort((a, b) => b.length - a.length)[0];
        const found = mostSpecific(hostTable(new Map(hosts.map((of) => [of, of]))), name);
        expect(found?.value.length).toBe(longest?.length);
      }),
    );
  });
});
