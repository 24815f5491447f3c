import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readRegex } from "../../../lib/front/tracing/read-regex.ts";
import { createMemo } from "../../../lib/incremental/memo.ts";
import { buildMesh } from "../../../lib/mesh/build-mesh.ts";
import { type NodeResources, nodeResources } from "../../../lib/trace/node-resources.ts";
import { trace } from "../../../lib/trace/trace.ts";
import { generate } from "../../../lib/xds/generate.ts";
import { pollShape } from "../../../lib/xds/shape.ts";
import { loadCase } from "../../conformance/load-case.ts";
import { seeded } from "../../snapshot/faulty-store.ts";
import { propertyRuns, soakSeed } from "../../soak-options.ts";
import { wholeResources } from "../../whole-resources.ts";
import { disagreement } from "./disagreement.ts";
import { createTokenSigner } from "./identities.ts";
import { onLoopback } from "./loopback.ts";
import { type Observed, observe, startEverywhere } from "./observe.ts";
import { withPolicies } from "./random-policies.ts";
import { type Asked, randomRequests } from "./random-requests.ts";
import { randomResources } from "./random-resources.ts";

const cases = fileURLToPath(new URL("../../conformance/cases/v3/", import.meta.url));

/** Worlds whose proxies have what routes, chains and clusters can be told apart by. */
const worlds =
  "vs-weighted-subsets vs-header-matches vs-query-params vs-uri-matches vs-rewrite vs-redirect gw-https-simple tcp-and-http-same-port combo-bookshop-canary".split(
    " ",
  );
/** Worlds with policies. */
const policyWorlds =
  "ap-allow-basic ap-custom-bad-provider ap-custom-http ap-deny ap-dry-run ap-ip-blocks-remote ap-path-templates ap-tcp combo-zero-trust ra-several-issuers ra-with-ap vs-cors".split(
    " ",
  );
const seeds = Array.from({ length: Number(process.env.SEEDS ?? 8) }, (_, at) => at + 1);
const requestsEach = 200;
/** With policies: 2,000 requests in all where a run is to be long. The last once disagreed: its table ignores path parameters. */
const policySeeds = [...Array.from({ length: propertyRuns(20) }, (_, at) => soakSeed(1) + at), 917_083];
const requestsWithPolicies = 100;

describe("a trace, beside a real Envoy", () => {
  let server: Awaited<ReturnType<typeof startEverywhere>>;
  const signer = createTokenSigner();
  /** How often requests were answered how. */
  const statuses = new Map<Observed["status"], number>();
  beforeAll(async () => {
    server = await startEverywhere();
  });
  afterAll(async () => {
    await server.close();
    const total = [...statuses.values()].reduce((sum, one) => sum + one, 0);
    const each = [...statuses].map(([status, count]) => `${status ?? "closed"}: ${count}`).join(", ");
    console.log(`trace: ${total} requests compared with a real Envoy (${each})`);
  });

  /** What differs, of the first few requests of which anything does. */
  async function complaints(
    stored: NodeResources,
    seed: number,
    count: number,
    asked?: Asked,
  ): Promise<readonly object[]> {
    const resources = onLoopback(stored, server.port);
    const requests = randomRequests(resources, count, seeded(seed), asked);
    const seen = await observe(resources, requests, signer);
    for (const { status } of seen) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    return requests
      .flatMap((request, at) => {
        const complaint = disagreement(trace(resources, request, readRegex), request, seen[at] ?? {});
        const http = request.http && { ...request.http, headers: [...request.http.headers] };
        return complaint === undefined ? [] : [{ complaint, request: { ...request, http }, seen: seen[at] }];
      })
      .slice(0, 3);
  }

  it.each([
    ...worlds.map((name) => [name, "routes"] as const),
    ...policyWorlds.map((name) => [name, "policies"] as const),
  ])(
    "takes the ways of the real one through %s",
    async (name, asked) => {
      const world = loadCase(cases + name);
      const memo = createMemo();
      const mesh = buildMesh(world, memo).value;
      for (const proxy of world.proxies) {
        const whole = wholeResources(pollShape(generate(mesh, proxy, memo).value, memo));
        const texts = (list: readonly { readonly json: object }[]) => list.map(({ json }) => JSON.stringify(json));
        const { listeners, routes, clusters, endpoints } = whole;
        const stored = nodeResources({
          listeners: texts(listeners),
          routes: texts(routes),
          clusters: texts(clusters),
          endpoints: texts(endpoints),
        });
        expect(await complaints(stored, 7, requestsEach, asked)).toEqual([]);
      }
    },
    120_000,
  );

  it.each(seeds)(
    "takes them through resources that compete, made from %i",
    async (seed) => {
      expect(await complaints(randomResources(seeded(seed)), seed, requestsEach)).toEqual([]);
    },
    120_000,
  );

  it.each(policySeeds)(
    "lets through and refuses what the real one does, by policies made from %i",
    async (seed) => {
      const resources = withPolicies(randomResources(seeded(seed)), seeded(seed + 1_000_003), signer.jwks);
      expect(await complaints(resources, seed, requestsWithPolicies, "tokens")).toEqual([]);
    },
    120_000,
  );
});
