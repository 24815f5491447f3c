import { describe, expect, it } from "vitest";
import { packAny } from "../../lib/xds/core-messages.ts";
import { rdsNames } from "../../lib/xds/rds-names.ts";

describe("rdsNames", () => {
  it("finds the route tables of all chains, each once", () => {
    const manager = (routeConfigName: string) => ({
      filters: [{ typedConfig: packAny("HttpConnectionManager", { rds: { routeConfigName } }) }],
    });
    const listener = { filterChains: [manager("80"), manager("81"), manager("80")], defaultFilterChain: manager("82") };
    expect([...rdsNames([listener])]).toEqual(["80", "81", "82"]);
  });

  it("finds nothing in a listener with inline tables", () => {
    const typedConfig = packAny("HttpConnectionManager", { routeConfig: { name: "inbound" } });
    expect(rdsNames([{ filterChains: [{ filters: [{ typedConfig }] }] }])).toEqual(new Set());
  });
});
