import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { newestRelease, type Release } from "../../lib/config/compat/compat-settings.ts";
import { createMemo } from "../../lib/incremental/memo.ts";
import { buildMesh } from "../../lib/mesh/build-mesh.ts";
import { generate } from "../../lib/xds/generate.ts";
import { loadCase } from "../conformance/load-case.ts";
import { wholeResources } from "../whole-resources.ts";

const path = fileURLToPath(new URL("../conformance/form-cases/fields-of-1.32", import.meta.url));

/** What each proxy of the case is given, as one text. */
function answers(release: Release): Readonly<Record<string, string>> {
  const world = loadCase(path, { release });
  const memo = createMemo();
  const mesh = buildMesh(world, memo).value;
  return Object.fromEntries(
    world.proxies.map((proxy) => [
      proxy.id.replace(/\..*/, ""),
      JSON.stringify(wholeResources(generate(mesh, proxy, memo).value)),
    ]),
  );
}

// test/e2e/accepted.envoy.test.ts shows that a real Envoy takes all of it.
describe("the fields of API 1.32, from a folder to the resources of a proxy", () => {
  const newest = answers(newestRelease);

  it.each([
    ["web-0", "client_side_weighted_round_robin", '"blackoutPeriod":"5s"'],
    ["web-0", "its weights of localities", '"name":"envoy.load_balancing_policies.wrr_locality"'],
    ["web-0", "failurePercentageThreshold", '"failurePercentageThreshold":40,"enforcingFailurePercentage":100'],
    ["web-0", "outlierDetectionHttpErrorCodes", '{"headers":[{"name":":status","stringMatch":{"exact":"429"}}]}'],
    ["web-0", "presence", '"requires":{"requiresAll":{"requirements":[{"providerName":"origins-0"},'],
    ["web-0", "transportSocket", '"transportSocketConnectTimeout":"9s"'],
    ["web-0", "defaultInboundHttpRetryPolicy", '"numRetries":4,"retriableStatusCodes":[503]'],
    ["web-0", "ALLOW_ANY_DYNAMIC_DNS", '"cluster":"AllowAnyDynamicDNSCluster"'],
    ["gateway-0", "caCertCredentialName", '"name":"kubernetes://roots-cacert"'],
    ["gateway-0", "ecdhCurves", '"ecdhCurves":["X25519MLKEM768","P-384"]'],
    ["gateway-0", "alpnProtocols", '"alpnProtocols":["http/1.1","acme-tls/1"]'],
  ])("give %s %s", (proxy, _field, text) => {
    expect(newest[proxy]).toContain(text);
  });

  it("keep gateways from resolving hosts, and sidecars from secrets that no rule selects them for", () => {
    expect(newest["gateway-0"]).not.toContain("AllowAnyDynamicDNSCluster");
    expect(newest["web-0"]).not.toContain("roots-cacert");
  });

  it("count in older releases as well, but for the error codes, which 1.31 reads and does not write", () => {
    const older = answers("1.31");
    expect(older["web-0"]).toContain('"failurePercentageThreshold":40');
    expect(older["web-0"]).not.toContain("429|500|503");
  });
});
