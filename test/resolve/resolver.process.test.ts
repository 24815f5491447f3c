import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
import { createLeasedCompiler } from "../../lib/compile/triggers/leased-compiler.ts";
import { frontApp } from "../../lib/front/app.ts";
import { createFront } from "../../lib/front/front.ts";
import { lookupFacts, lookupReports } from "../../lib/resolve/lookup-reports.ts";
import { createNodeFetch } from "../../lib/resolve/node-fetch.ts";
import { createResolver } from "../../lib/resolve/resolver.ts";
import { readState } from "../../lib/resolve/resolver-state.ts";
import { resolvingCompiler } from "../../lib/resolve/resolving-compiler.ts";
import { readHead } from "../../lib/snapshot/head/head.ts";
import { readHistory } from "../../lib/snapshot/head/history/history.ts";
import { createSnapshotReader } from "../../lib/snapshot/reader/snapshot-reader.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { type Issuer, openIssuer } from "./issuer.ts";
import { noDns } from "./name-server.ts";

const minute = 60_000;
const quiet = { info() {}, warn() {}, error() {} };

let issuer: Issuer;
beforeAll(async () => {
  issuer = await openIssuer();
});
afterAll(() => issuer.close());

const pod = `apiVersion: v1
kind: Pod
metadata:
  name: web-1
  namespace: shop
  labels: { app: web, security.istio.io/tlsMode: istio }
  annotations: { proxy.istio.io/config: "proxyMetadata: { ISTIO_META_DNS_CAPTURE: 'true' }" }
spec: { containers: [{ name: web, ports: [{ containerPort: 80 }] }] }
status: { phase: Running, podIP: 10.0.0.1, podIPs: [{ ip: 10.0.0.1 }] }
---
apiVersion: v1
kind: Service
metadata: { name: web, namespace: shop }
spec: { clusterIP: 10.9.0.1, selector: { app: web }, ports: [{ name: http, port: 80 }] }
`;
const tokens = (...rules: readonly string[]) => `apiVersion: security.istio.io/v1
kind: RequestAuthentication
metadata: { name: tokens, namespace: shop }
spec: { jwtRules: [${rules.join()}] }
`;
const entry = (host: string) => `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: ${host}, namespace: shop }
spec: { hosts: [${host}], ports: [{ number: 27017, name: tcp, protocol: TCP }], resolution: DNS, location: MESH_EXTERNAL }
`;
const node = {
  id: "sidecar~10.0.0.1~web-1.shop~shop.svc.cluster.local",
  cluster: "web.shop",
  metadata: { NAMESPACE: "shop" },
};

/** A mesh with one workload, whose clock stands still until it is moved. */
function openMesh(allowedHosts: ReadonlySet<string> = new Set(["localhost"])) {
  const store = memoryStore();
  let nowMs = Date.now();
  const now = () => nowMs;
  const fetch = createNodeFetch({ allowedHosts, caBundle: issuer.caBundle });
  const resolve = createResolver({ store, fetch, askDns: noDns, allowedHosts, withinMs: 2_000, now });
  const leased = createLeasedCompiler({ store, pace: { quietMs: 0 } });
  const compile = resolvingCompiler(leased, resolve, quiet);
  const front = frontApp(createFront({ store }));
  return {
    store,
    resolve,
    compile: () => compile(),
    pass: (ms: number) => {
      nowMs += ms;
    },
    async push(text: string) {
      await writeShard(store, "main", [{ file: "shop.yaml", text: `${pod}---\n${text}` }]);
      return compile({ by: "somebody" });
    },
    /** What a workload that captures DNS is served of a type. */
    async served(type: "clusters" | "listeners") {
      const body = JSON.stringify({ node });
      const headers = { "content-type": "application/json" };
      return (await front.request(`/v3/discovery:${type}`, { method: "POST", headers, body })).text();
    },
    /** Ids of the keys that the workload's listeners hold, each once. */
    async keys(): Promise<readonly string[]> {
      const text = await this.served("listeners");
      return [...new Set([...text.matchAll(/\\+"kid\\+":\\+"([^"\\]+)/g)].map(([, kid = ""]) => kid))].sort();
    },
  };
}

async function newestEntry(store: ObjectStore) {
  const publication = (await readHead(store))?.head.publication ?? "";
  for await (const entry of readHistory(createSnapshotReader(store), publication)) return entry;
  return undefined;
}

describe("a resolver", () => {
  it("puts the keys of a jwksUri, and of an issuer's discovery, in force with the push that names them", async () => {
    for (const rule of [`{ issuer: me, jwksUri: "${issuer.jwksUri}" }`, `{ issuer: "${issuer.url}" }`]) {
      const mesh = openMesh();
      const told = await mesh.push(tokens(rule));
      expect(told.diagnostics).toEqual([]);
      expect(await mesh.keys()).toEqual([expect.stringMatching(/^key-/)]);
      expect(await lookupReports(mesh.store)).toMatchObject([{ state: "fresh", keys: 1 }]);
    }
  });

  it("asks again after 20 minutes, by tag, and publishes only what has changed", async () => {
    const mesh = openMesh();
    const { version } = await mesh.push(tokens(`{ issuer: me, jwksUri: "${issuer.jwksUri}" }`));
    const asked = issuer.asked();
    mesh.pass(19 * minute);
    await mesh.compile();
    expect(issuer.asked()).toBe(asked);
    mesh.pass(2 * minute);
    expect((await mesh.compile()).version).toBe(version);
    expect(issuer.asked()).toBe(asked + 1);
    await issuer.rotate(true);
    const before = await mesh.keys();
    mesh.pass(21 * minute);
    expect((await mesh.compile()).version).not.toBe(version);
    expect(await mesh.keys()).toEqual(expect.arrayContaining([...before]));
    expect(await mesh.keys()).toHaveLength(before.length + 1);
    const newest = await newestEntry(mesh.store);
    expect(newest).toMatchObject({ by: "resolver", why: `keys of ${issuer.jwksUri}` });
  });

  it("keeps the last good keys through outages, rubbish and sets that shrink to nothing, and says since when", async () => {
    const mesh = openMesh();
    await mesh.push(tokens(`{ issuer: me, jwksUri: "${issuer.jwksUri}" }`));
    const good = await mesh.keys();
    expect(good).not.toEqual([]);
    const troubles: readonly Parameters<Issuer["answer"]>[0][] = [
      (request) => request.socket.destroy(),
      (_request, response) => response.writeHead(503).end(),
      (_request, response) => response.end("<html>"),
      (_request, response) => response.end('{"keys":[]}'),
      (_request, response) => response.end(" ".repeat(2 * 1024 * 1024)),
    ];
    for (const trouble of troubles) {
      issuer.answer(trouble);
      mesh.pass(60 * minute);
      const { version } = await mesh.compile();
      expect(await mesh.keys()).toEqual(good);
      expect((await mesh.compile()).version).toBe(version);
    }
    const [report] = await lookupReports(mesh.store);
    expect(report).toMatchObject({ state: "stale", keys: good.length, problem: expect.stringContaining("1024 KiB") });
    expect(Date.parse(report?.failingSince ?? "")).toBeGreaterThan(Date.parse(report?.fetchedAt ?? ""));
    issuer.answer(undefined);
    mesh.pass(60 * minute);
    await mesh.compile();
    expect(await lookupReports(mesh.store)).toMatchObject([{ state: "fresh" }]);
  });

  it("refuses tokens until keys were read, tries again soon and then more seldom", async () => {
    const mesh = openMesh();
    issuer.answer((_request, response) => response.writeHead(503).end());
    const { diagnostics } = await mesh.push(tokens(`{ issuer: me, jwksUri: "${issuer.jwksUri}" }`));
    expect(diagnostics).toMatchObject([{ code: "jwks-not-fetched" }]);
    const attempts = async (ms: number) => {
      const before = issuer.asked();
      mesh.pass(ms);
      await mesh.compile();
      return issuer.asked() - before;
    };
    expect([await attempts(14_000), await attempts(2_000), await attempts(20_000), await attempts(15_000)]).toEqual([
      0, 1, 0, 1,
    ]);
    issuer.answer(undefined);
    mesh.pass(20 * minute);
    expect((await mesh.compile()).diagnostics).toEqual([]);
  });

  it("asks nobody in a private network, and says which setting would let it", async () => {
    const mesh = openMesh(new Set());
    await mesh.push(tokens(`{ issuer: me, jwksUri: "${issuer.jwksUri}" }`));
    expect(await lookupReports(mesh.store)).toMatchObject([
      { state: "missing", problem: expect.stringContaining("name localhost in resolver.allowedHosts") },
    ]);
  });

  it("does not call keys stale that another process may ask for", async () => {
    const mesh = openMesh();
    await mesh.push(tokens(`{ issuer: me, jwksUri: "${issuer.jwksUri}" }`));
    const [before] = await lookupReports(mesh.store);
    const elsewhere = createResolver({
      store: mesh.store,
      fetch: createNodeFetch({ allowedHosts: new Set() }),
      askDns: noDns,
      allowedHosts: new Set(),
      withinMs: 2_000,
      now: Date.now,
    });
    expect(await elsewhere({ all: true })).toMatchObject({ hasChanged: false });
    const problem = expect.stringContaining("PORTOLAN_RESOLVER_ALLOWED_HOSTS");
    expect(await lookupReports(mesh.store)).toEqual([{ ...before, problem }]);
  });

  it("leaves keys that are written, and hosts of the mesh, to others", async () => {
    const mesh = openMesh();
    await mesh.push(
      tokens(
        `{ issuer: a, jwks: '{"keys":[]}' }`,
        '{ issuer: b, jwksUri: "http://web.shop.svc.cluster.local/keys" }',
        "{ issuer: no-url }",
      ),
    );
    expect(await lookupReports(mesh.store)).toEqual([]);
  });

  it("does not wait a day where the clock was set back, and keeps keys that a rollback may want again", async () => {
    const mesh = openMesh();
    await mesh.push(tokens(`{ issuer: me, jwksUri: "${issuer.jwksUri}" }`));
    const asked = issuer.asked();
    mesh.pass(-24 * 60 * minute);
    await mesh.compile();
    expect(issuer.asked()).toBe(asked + 1);
    await mesh.push("");
    expect(await mesh.keys()).toEqual([]);
    // Nobody is warned of what nobody wants.
    expect([await lookupReports(mesh.store), await lookupFacts(mesh.store, Date.now)]).toEqual([[], []]);
    issuer.answer((request) => request.socket.destroy());
    const { diagnostics } = await mesh.push(tokens(`{ issuer: me, jwksUri: "${issuer.jwksUri}" }`));
    issuer.answer(undefined);
    expect(diagnostics).toEqual([]);
    expect(await mesh.keys()).not.toEqual([]);
  });

  it("leaves a neighbour's keys in force, however many others are named", async () => {
    const mesh = openMesh();
    const own = tokens(`{ issuer: me, jwksUri: "${issuer.jwksUri}" }`);
    await mesh.push(own);
    const keys = await mesh.keys();
    for (const prefix of ["a", "b"]) {
      const many = Array.from(
        { length: 300 },
        (_, at) => `{ issuer: x${at}, jwksUri: "https://127.0.0.1:${at + 1}/${prefix}" }`,
      );
      await mesh.push(`${own}---\n${tokens(...many).replace("namespace: shop", "namespace: evil")}`);
    }
    expect(await mesh.keys()).toEqual(keys);
    expect(await lookupReports(mesh.store)).toHaveLength(1 + 32);
    expect((await readState(mesh.store)).state.size).toBe(1 + 32 + 32);
    const asked = issuer.asked();
    mesh.pass(21 * minute);
    await mesh.compile();
    expect(issuer.asked()).toBe(asked + 1);
  });

  it("lets no entry of another namespace say which keys are good", async () => {
    const mesh = openMesh();
    const rule = `{ issuer: me, jwksUri: "${issuer.jwksUri}" }`;
    await mesh.push(tokens(rule));
    const keys = await mesh.keys();
    const hijack = entry("localhost").replace("namespace: shop", "namespace: evil");
    const { diagnostics } = await mesh.push(`${tokens(rule)}---\n${hijack}`);
    expect(diagnostics.filter(({ code }) => code === "jwks-not-fetched")).toEqual([]);
    expect(await mesh.keys()).toEqual(keys);
    expect(await mesh.served("listeners")).not.toContain("remoteJwks");
  });

  it("takes keys from its own source alone", async () => {
    const mesh = openMesh();
    await mesh.push(tokens(`{ issuer: me, jwksUri: "${issuer.jwksUri}" }`));
    const keys = await mesh.keys();
    const forged = { resolved: { jwks: [{ jwksUri: issuer.jwksUri, jwks: '{"keys":[{"kid":"forged"}]}' }] } };
    for (const source of ["a-team", "z-team", "main"])
      await writeShard(mesh.store, source, [
        ...(source === "main"
          ? [{ file: "shop.yaml", text: `${pod}---\n${tokens(`{ issuer: me, jwksUri: "${issuer.jwksUri}" }`)}` }]
          : []),
        { file: "portolan.yaml", text: JSON.stringify(forged) },
      ]);
    await mesh.compile();
    expect(await mesh.keys()).toEqual(keys);
  });

  it("goes on from the source where its state is lost, and from the state where its source is", async () => {
    const mesh = openMesh();
    await mesh.push(tokens(`{ issuer: me, jwksUri: "${issuer.jwksUri}" }`));
    const keys = await mesh.keys();
    issuer.answer((request) => request.socket.destroy());
    for (const lost of ["compile/resolved", "sources/resolved/list"]) {
      await mesh.store.delete(lost);
      await mesh.compile();
      await mesh.compile();
      expect(await mesh.keys()).toEqual(keys);
    }
    await mesh.store.put("compile/resolved", new TextEncoder().encode("damaged"));
    await mesh.compile();
    expect(await mesh.keys()).toEqual(keys);
    issuer.answer(undefined);
  });

  it("has compiled what a process left that ended before it compiled", async () => {
    const mesh = openMesh();
    await mesh.push(tokens(`{ issuer: me, jwksUri: "${issuer.jwksUri}" }`));
    await issuer.rotate(false);
    // Looked up and stored, and then killed.
    expect(await mesh.resolve({ all: true })).toMatchObject({ hasChanged: true });
    expect(await mesh.resolve()).toMatchObject({ hasChanged: true });
    await mesh.compile();
    expect(await mesh.resolve()).toMatchObject({ hasChanged: false });
  });

  it("lets the newest of two that run at once stand, and neither fails", async () => {
    const mesh = openMesh();
    await mesh.push(tokens(`{ issuer: me, jwksUri: "${issuer.jwksUri}" }`));
    await issuer.rotate(false);
    const all = await Promise.all([1, 2, 3].map(() => mesh.resolve({ all: true })));
    expect(all.some(({ hasChanged }) => hasChanged)).toBe(true);
    await mesh.compile();
    expect(await mesh.keys()).toHaveLength(1);
  });

  it("gives hosts of ServiceEntries addresses that stay, and that proxies with DNS capture listen on", async () => {
    const mesh = openMesh();
    const addresses = async () =>
      [
        ...new Set(
          [...(await mesh.served("listeners")).matchAll(/"name":"(240\.240\.\d+\.\d+)_\d+"/g)].map(
            ([, address]) => address,
          ),
        ),
      ].sort();
    await mesh.push(entry("mongo.db"));
    // As Istio gives it to shop/mongo.db.
    const first = await addresses();
    expect(first).toHaveLength(1);
    const { version } = await mesh.compile();
    expect((await mesh.compile()).version).toBe(version);
    await mesh.push(`${entry("mongo.db")}---\n${entry("other.db")}`);
    // Listeners follow when every proxy has had time for the clusters behind them.
    await expect.poll(addresses).toHaveLength(2);
    expect(await addresses()).toEqual(expect.arrayContaining([...first]));
    await mesh.push(entry("other.db"));
    await mesh.push(entry("mongo.db"));
    await expect.poll(addresses).toEqual(first);
  });

  it("gives none where the entry has some, its status has some, or its label says no", async () => {
    const mesh = openMesh();
    const given = "status: { addresses: [{ host: mongo.db, value: 240.240.7.7 }] }\n";
    await mesh.push(
      [
        entry("mongo.db") + given,
        entry("a.db").replace("spec: {", "spec: { addresses: [10.1.1.1],"),
        entry("b.db").replace(
          "namespace: shop",
          'namespace: shop, labels: { networking.istio.io/enable-autoallocate-ip: "false" }',
        ),
        entry("c.db").replace("resolution: DNS", "resolution: NONE"),
      ].join("---\n"),
    );
    const names = new Set(
      [...(await mesh.served("listeners")).matchAll(/"name":"(240\.240[^"]*)"/g)].map(([, name]) => name),
    );
    expect([...names]).toEqual(["240.240.7.7_27017"]);
  });
});
