import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readFolder } from "../../lib/config/folder/folder.ts";
import { lookupReports } from "../../lib/resolve/lookup-reports.ts";
import { readState, writeState } from "../../lib/resolve/resolver-state.ts";
import { type Bookshop, openBookshop, shopHost, startGateway } from "../e2e/bookshop.ts";
import { lambdaEdge, type PublicEdge, workerdEdge } from "../e2e/edges.ts";
import { eventually, type RunningEnvoy } from "../e2e/envoy.ts";
import { asker } from "../e2e/fail-closed-mesh.ts";
import { tokenPolicies } from "../e2e/token-policies.ts";
import { startTraffic } from "../e2e/traffic.ts";
import { type Issuer, openIssuer } from "../resolve/issuer.ts";

/** The compile function as each platform runs it. A Worker trusts public authorities alone, so its issuer speaks clear text here. */
describe.each([
  { name: "workerd", isClear: true, open: () => workerdEdge({ RESOLVER_ALLOWED_HOSTS: "localhost" }) },
  {
    name: "Lambda",
    isClear: false,
    open: (caBundle: string) =>
      lambdaEdge({ PORTOLAN_RESOLVER_ALLOWED_HOSTS: "localhost", PORTOLAN_RESOLVER_CA_BUNDLE: caBundle }),
  },
])("keys of an issuer, on $name", ({ isClear, open }) => {
  let shop: Bookshop;
  let issuer: Issuer;
  let edge: PublicEdge;
  let envoy: RunningEnvoy;

  beforeAll(async () => {
    [shop, issuer] = await Promise.all([openBookshop(), openIssuer(isClear)]);
    edge = await open(issuer.caBundle);
    await shop.add("tokens.yaml", tokenPolicies(`{ issuer: "${issuer.url}", jwksUri: "${issuer.jwksUri}" }`));
    const pushed = await edge.post("/sources/main", JSON.stringify({ files: await readFolder(shop.folder) }));
    expect([pushed.status, await pushed.json()]).toMatchObject([200, { kind: "published" }]);
    envoy = await startGateway(edge.platform);
  }, 120_000);
  afterAll(async () => {
    await envoy?.stop();
    await edge?.close();
    await issuer?.close();
    await shop?.close();
  });

  const answered = (token: string, status: number) =>
    eventually(
      async () => (await asker(shop.port)("/catalog", { authorization: `Bearer ${token}` })).status,
      (seen) => seen === status,
      30_000,
    );

  /** Has the function compile as if what it looked up were an hour older. */
  async function later(): Promise<void> {
    const { state, etag } = await readState(edge.store);
    const hour = 3_600_000;
    const older = [...state].map(([of, one]) => [of, { ...one, triedMs: one.triedMs - hour }] as const);
    expect(await writeState(edge.store, { state: new Map(older), etag })).toBe(true);
    expect((await edge.post("/hooks/recompile", "")).status).toBe(200);
  }

  it("are in force with the push that names the issuer, follow a rotation, and outlive an outage", async () => {
    const token = await issuer.token();
    await answered(token, 200);
    await answered(`${token.slice(0, -8)}AAAAAAAA`, 401);
    const traffic = startTraffic(shop.port, shopHost, "/catalog", 2, { authorization: `Bearer ${token}` });
    await issuer.rotate(true);
    const next = await issuer.token();
    await later();
    await answered(next, 200);
    issuer.answer((request) => request.socket.destroy());
    await later();
    await later();
    expect(await lookupReports(edge.store)).toMatchObject([{ state: "stale", keys: 2 }]);
    await answered(next, 200);
    await traffic.stop();
    expect([...traffic.counts().keys()].every((answer) => answer.startsWith("catalog-"))).toBe(true);
  }, 120_000);
});
