/** A gateway that checks a server's certificate against authorities in a ConfigMap, which the front gives it. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bootstrapFor } from "../../lib/cli/proxy/bootstrap.ts";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
import { createLeasedCompiler } from "../../lib/compile/triggers/leased-compiler.ts";
import { defaultWorldOptions } from "../../lib/compile/world/world-of.ts";
import { readFolder } from "../../lib/config/folder/folder.ts";
import { frontApp } from "../../lib/front/app.ts";
import { serveGrpc } from "../../lib/front/connect/grpc-server.ts";
import { createFront } from "../../lib/front/front.ts";
import { serveHttp } from "../../lib/front/node-server.ts";
import { limits } from "../../lib/limits/limits.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { clearAgent, startAgent } from "./agent-process.ts";
import { gatewayOfShop, openBookshop, rejections, startGateway } from "./bookshop.ts";
import { createAuthority, issueServer, revoke } from "./certificates.ts";
import { eventually } from "./envoy.ts";
import { get } from "./sidecars.ts";

const address = "127.0.0.31";

const objects = (port: number) => `apiVersion: v1
kind: Service
metadata: { name: vault, namespace: bookshop }
spec: { clusterIP: 10.96.7.7, selector: { app: vault }, ports: [{ name: http, port: ${port} }] }
---
apiVersion: v1
kind: Pod
metadata: { name: vault, namespace: bookshop, labels: { app: vault } }
spec: { containers: [{ name: vault, ports: [{ containerPort: ${port} }] }] }
status: { phase: Running, podIP: ${address}, podIPs: [{ ip: ${address} }], conditions: [{ type: Ready, status: "True" }] }
---
apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata: { name: vault, namespace: bookshop }
spec:
  targetRefs: [{ group: "", kind: Service, name: vault }]
  validation:
    hostname: vault.example
    caCertificateRefs: [{ group: "", kind: ConfigMap, name: vault-roots }]
`;

const configMap = (data: Readonly<Record<string, string>>, name = "vault-roots") =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace: "bookshop" },
    data,
  });

type Transport = "poll" | "delta" | "agent";

/** The gateway, with or without an agent beside it. */
async function startTrusting(transport: Transport, fronts: { readonly polls: string; readonly streams: string }) {
  const certificates = "none";
  if (transport === "poll") return startGateway(fronts.polls, { certificates });
  if (transport === "delta") return startGateway(fronts.streams, { transport, certificates });
  const bootstrap = bootstrapFor(await gatewayOfShop(), fronts.polls, 0, { certificates });
  const agent = await startAgent({ bootstrap, args: ["--server", fronts.polls] });
  return {
    admin: agent.admin,
    async stop() {
      await agent.end("SIGTERM");
      await clearAgent(agent.folder);
    },
  };
}

async function openVault(transport: Transport) {
  const scratch = mkdtempSync(join(tmpdir(), "portolan-trust-"));
  const authority = createAuthority(join(scratch, "own"));
  const other = createAuthority(join(scratch, "other"));
  const { certificate, key } = issueServer(authority, "vault.example");
  const server = createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, (_request, response) =>
    // A connection that is kept was checked with the authorities of then.
    response.setHeader("connection", "close").end("the vault"),
  );
  await new Promise<void>((listening, failed) => {
    server.once("error", failed);
    server.listen(0, address, listening);
  });
  const { port } = server.address() as AddressInfo;
  const shop = await openBookshop();
  await shop.add("vault.yaml", objects(port));
  const toVault = `    - { match: [{ uri: { prefix: /vault } }], route: [{ destination: { host: vault, port: { number: ${port} } } }] }\n`;
  await shop.edit("catalog.yaml", (text) => text.replace("  http:\n", `  http:\n${toVault}`));

  const store = memoryStore();
  const world = { ...defaultWorldOptions, certificates: "none", binaryForms: true } as const;
  const compile = createLeasedCompiler({ store, world, pace: { quietMs: 0 } });
  const front = createFront({ store, maxHoldMs: 1_000 });
  const polls = await serveHttp(frontApp(front), 0, "127.0.0.1", limits);
  const streams = await serveGrpc(front, 0, "127.0.0.1");
  const trust = async (data: Readonly<Record<string, string>>, name?: string) => {
    await shop.add("roots.yaml", configMap(data, name));
    await writeShard(store, "main", await readFolder(shop.folder));
    return compile();
  };
  const pem = (file: string) => readFile(file, "utf8");
  const { diagnostics } = await trust({ "ca.crt": await pem(authority) });
  expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  const envoy = await startTrusting(transport, { polls: polls.url, streams: streams.url });
  return {
    envoy,
    trust,
    /** The same, of the cluster. */
    async trustCluster(trustBundle: string) {
      const kind = "ClusterTrustBundle";
      await shop.edit("vault.yaml", (text) =>
        text.replace(
          'group: "", kind: ConfigMap, name: vault-roots',
          `group: certificates.k8s.io, kind: ${kind}, name: "vault:roots"`,
        ),
      );
      const apiVersion = "certificates.k8s.io/v1beta1";
      const object = { apiVersion, kind, metadata: { name: "vault:roots" }, spec: { trustBundle } };
      await shop.add("cluster-roots.yaml", JSON.stringify(object));
      await writeShard(store, "main", await readFolder(shop.folder));
      return compile();
    },
    own: await pem(authority),
    other: await pem(other),
    /** The authority's list of revoked certificates, with the vault's or without. */
    revoked: (isVaults: boolean) => revoke(authority, ...(isVaults ? [certificate] : [])),
    ask: () => get({ host: "127.0.0.1", port: shop.port, path: "/vault", headers: { host: "shop.example.com" } }),
    async close() {
      await envoy.stop();
      await Promise.all([polls.close(), streams.close(), shop.close()]);
      front.close();
      await new Promise((closed) => {
        server.close(closed);
        server.closeAllConnections();
      });
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}

describe.each(["poll", "delta", "agent"] as const)("a gateway (%s) with authorities of a ConfigMap", (transport) => {
  let vault: Awaited<ReturnType<typeof openVault>>;
  beforeAll(async () => {
    vault = await openVault(transport);
  }, 60_000);
  afterAll(() => vault?.close());

  const answers = (status: number) =>
    eventually(
      () => vault.ask().catch(() => ({ status: 0, body: "" })),
      (answer) => answer.status === status,
      15_000,
    );

  it("reaches a server whose certificate they have signed", async () => {
    expect(await answers(200)).toEqual({ status: 200, body: "the vault" });
  }, 60_000);

  it("follows a change of them, and trusts nobody where there are none", async () => {
    await vault.trust({ "ca.crt": vault.other });
    await answers(503);
    await vault.trust({ "ca.crt": `${vault.other}${vault.own}` });
    await answers(200);
    await vault.trust({ "ca.crt": "no certificates" });
    // What was valid last is in force: nothing new is given.
    await answers(200);
    await vault.trust({ "ca.crt": vault.own }, "another");
    await answers(503);
    await vault.trust({ "ca.crt": vault.own });
    await answers(200);
    expect(await rejections(vault.envoy)).toEqual([]);
  }, 90_000);

  it("trusts no certificate that their list has revoked", async () => {
    await vault.trust({ "ca.crt": vault.own, "ca.crl": vault.revoked(true) });
    await answers(503);
    await vault.trust({ "ca.crt": vault.own, "ca.crl": vault.revoked(false) });
    await answers(200);
    expect(await rejections(vault.envoy)).toEqual([]);
  }, 60_000);

  it("takes those of a ClusterTrustBundle", async () => {
    await vault.trustCluster(vault.other);
    await answers(503);
    await vault.trustCluster(vault.own);
    await answers(200);
    expect(await rejections(vault.envoy)).toEqual([]);
  }, 60_000);
});
