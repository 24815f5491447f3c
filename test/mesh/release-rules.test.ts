import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Release } from "../../lib/config/compat/compat-settings.ts";
import { type Switches, switchNames } from "../../lib/config/compat/switches.ts";
import { createMemo } from "../../lib/incremental/memo.ts";
import { releaseRules } from "../../lib/mesh/release-rules.ts";

const root = new URL("../../", import.meta.url).pathname;
const rulesOf = (release: Release, switches: Switches = {}) => releaseRules(createMemo(), { release, switches });
const text = readFileSync(join(root, "docs/releases.md"), "utf8");

describe("the rules by which releases differ", () => {
  it("are described under their names, and so are the switches", () => {
    for (const name of [...Object.keys(rulesOf("1.32")), ...switchNames]) expect(text).toContain(`\`${name}\``);
  });

  it("are asked for by their names: nothing else asks which release is meant", () => {
    const asking = readdirSync(join(root, "lib"), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && file !== "mesh/release-rules.ts")
      .filter((file) => /["']1\.3[012]["']/.test(readFileSync(join(root, "lib", file), "utf8")));
    expect(asking).toEqual(["config/compat/compat-settings.ts"]);
  });

  it("follow switches where the release has them", () => {
    const off = { PILOT_AUTO_SEND_UNHEALTHY_ENDPOINTS: false, PILOT_ENABLE_STRICT_GATEWAY_MERGING: false } as const;
    expect(rulesOf("1.31", off)).toMatchObject({ sendsUnreadyEndpoints: false, mergesGatewaysAcrossNamespaces: true });
    const on = { PILOT_AUTO_SEND_UNHEALTHY_ENDPOINTS: true, PILOT_ENABLE_STRICT_GATEWAY_MERGING: true } as const;
    expect(rulesOf("1.30", on)).toMatchObject({ sendsUnreadyEndpoints: false, mergesGatewaysAcrossNamespaces: true });
    const quiet = { PILOT_SPAWN_UPSTREAM_SPAN_FOR_GATEWAY: false } as const;
    expect([rulesOf("1.30", quiet), rulesOf("1.31", quiet)].map((rules) => rules.spawnsUpstreamSpans)).toEqual([
      false,
      true,
    ]);
  });

  it("are one object for one release with the same switches", () => {
    const memo = createMemo();
    const first = releaseRules(memo, { release: "1.31", switches: { PILOT_ENABLE_ALPHA_GATEWAY_API: true } });
    expect(releaseRules(memo, { release: "1.31", switches: { PILOT_ENABLE_ALPHA_GATEWAY_API: true } })).toBe(first);
    expect(releaseRules(memo, { release: "1.32", switches: {} })).not.toBe(first);
  });
});
