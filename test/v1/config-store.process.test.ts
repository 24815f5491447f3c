import { describe, expect, it } from "vitest";
import type { EgressRule } from "../../lib/config/kinds/legacy/egress-rule.ts";
import type { RouteRule } from "../../lib/config/kinds/legacy/route-rule.ts";
import { egressRules, routeRulesFor } from "../../lib/v1/config-store.ts";
import { runsHere } from "../../lib/v1/runs-here.ts";
import { config, legacyConfigs, shop } from "./worlds.ts";

const egress = (name: string, service: string, ports: EgressRule["ports"]) =>
  config<EgressRule>("EgressRule", name, "default", { destination: { service }, ports });

const namesOf = (rules: readonly ReturnType<typeof egress>[]) =>
  egressRules({ ...legacyConfigs, egressRules: rules }).map(({ meta }) => meta.name);

describe("egressRules", () => {
  it("gives a destination to the rule with the smaller key, whatever the order of the objects", () => {
    const rules = [
      egress("b", "x.com", [{ port: 80, protocol: "http" }]),
      egress("a", "x.com", [{ port: 81, protocol: "tcp" }]),
    ];
    expect(namesOf(rules)).toEqual(["a"]);
  });

  it("takes all protocols that are routed as HTTP for one", () => {
    const rules = [
      egress("a", "x.com", [{ port: 443, protocol: "https" }]),
      egress("b", "y.com", [{ port: 443, protocol: "GRPC" }]),
    ];
    expect(namesOf(rules)).toEqual(["a", "b"]);
  });

  it("drops a rule whole that uses a port for another protocol", () => {
    const mongo = egress("b", "y.com", [
      { port: 27017, protocol: "mongo" },
      { port: 80, protocol: "tcp" },
    ]);
    const rules = [egress("a", "x.com", [{ port: 80, protocol: "http" }]), mongo];
    expect(namesOf(rules)).toEqual(["a"]);
  });
});

describe("routeRulesFor", () => {
  const rule = (name: string, precedence: number | undefined, more: Partial<RouteRule> = {}) =>
    config<RouteRule>("RouteRule", name, "shop", {
      destination: { name: "cart" },
      ...(precedence === undefined ? {} : { precedence }),
      ...more,
    });
  const names = (rules: readonly ReturnType<typeof rule>[], instances = shop.instances.slice(0, 1)) =>
    routeRulesFor({ ...legacyConfigs, routeRules: rules }, "cart.shop.svc.cluster.local", runsHere(instances)).map(
      ({ meta }) => meta.name,
    );

  it("tries higher precedence first and breaks ties by key", () => {
    expect(names([rule("c", 1), rule("b", undefined), rule("a", 0), rule("d", 5)])).toEqual(["d", "c", "a", "b"]);
  });

  it("asks for an instance of the source with its labels", () => {
    const from = (labels: Readonly<Record<string, string>>) =>
      rule("r", 0, { match: { source: { name: "frontend", labels } } });
    expect(names([from({ version: "v1" })])).toEqual(["r"]);
    expect(names([from({ version: "v9" })])).toEqual([]);
    expect(names([from({})], [])).toEqual([]);
  });
});
