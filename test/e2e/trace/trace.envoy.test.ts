import { fileURLToPath } from "node:url";
import { RE2JS } from "re2js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildMesh } from "../../../lib/mesh/build-mesh.ts";
import { createMemo } from "../../../lib/mesh/memo/memo.ts";
import { type NodeResources, nodeResources } from "../../../lib/trace/node-resources.ts";
import { trace } from "../../../lib/trace/trace.ts";
import { generate } from "../../../lib/xds/generate.ts";
import { pollShape } from "../../../lib/xds/shape.ts";
import { loadCase } from "../../conformance/load-case.ts";
import { seeded } from "../../snapshot/faulty-store.ts";
import { wholeResources } from "../../whole-resources.ts";
import { disagreement } from "./disagreement.ts";
import { onLoopback } from "./loopback.ts";
import { observe, startEverywhere } from "./observe.ts";
import { randomRequests } from "./random-requests.ts";
import { randomResources } from "./random-resources.ts";

const cases = fileURLToPath(new URL("../../conformance/cases/v3/", import.meta.url));
const readRegex = (pattern: string) => {
  const compiled = RE2JS.compile(pattern);
  return (text: string) => compiled.matches(text);
};

/** Worlds whose proxies have what routes, chains and clusters can be told apart by. */
const worlds =
  "vs-weighted-subsets vs-header-matches vs-query-params vs-uri-matches vs-rewrite vs-redirect gw-https-simple tcp-and-http-same-port combo-bookshop-canary".split(
    " ",
  );
const seeds = Array.from({ length: Number(process.env.SEEDS ?? 8) }, (_, at) => at + 1);
const requestsEach = 200;

describe("a trace, beside a real Envoy", () => {
  let server: Awaited<ReturnType<typeof startEverywhere>>;
  beforeAll(async () => {
    server = await startEverywhere();
  });
  afterAll(() => server.close());

  /** What differs, of the first few requests of which anything does. */
  async function complaints(stored: NodeResources, seed: number, count: number): Promise<readonly object[]> {
    const resources = onLoopback(stored, server.port);
    const requests = randomRequests(resources, count, seeded(seed));
    const seen = await observe(resources, requests);
    return requests
      .flatMap((request, at) => {
        const complaint = disagreement(trace(resources, request, readRegex), request, seen[at] ?? {});
        const http = request.http && { ...request.http, headers: [...request.http.headers] };
        return complaint === undefined ? [] : [{ complaint, request: { ...request, http }, seen: seen[at] }];
      })
      .slice(0, 3);
  }

  it.each(worlds)(
    "takes the ways of the real one through %s",
    async (name) => {
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
        expect(await complaints(stored, 7, requestsEach)).toEqual([]);
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
});
