import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fieldsOf, textOf } from "../../lib/base/untyped.ts";
import { authorityStore } from "../../lib/ca/authority-store.ts";
import { certificateAuthority } from "../../lib/ca/certificate-authority.ts";
import { makeSigner } from "../../lib/ca/make-signer.ts";
import { readAuthentication } from "../../lib/front/auth/settings.ts";
import { serveGrpc } from "../../lib/front/connect/grpc-server.ts";
import { authorityCertificate, keepCertificate } from "../../lib/front/connect/server-certificate.ts";
import { recordedNodes } from "../../lib/front/nodes/node-records.ts";
import { limits } from "../../lib/limits/limits.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { testWrapper } from "../ca/requests.ts";
import { type Bookshop, openBookshop, startGateway } from "../e2e/bookshop.ts";
import { startDev } from "../e2e/dev-process.ts";
import { eventually, type RunningEnvoy } from "../e2e/envoy.ts";
import { openStream, withBinary } from "../front/ads/streams.ts";
import { testFront } from "../front/fixtures.ts";
import { lacks } from "../skip.ts";
import { worldOf } from "../snapshot/worlds.ts";
import { type ApiServer, createObject, openApiServer } from "./api-server.ts";
import { hasApiServer, serverBinary } from "./server-binaries.ts";

const program = serverBinary("istioctl-eed52ebb66ad");
const needs = "Go, for istioctl: npm run test:servers builds it";

/** What istioctl prints, and how it ends. */
function istioctl(home: string, ...args: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
  return new Promise((resolve) => {
    const env = { PATH: process.env.PATH, HOME: home };
    execFile(program ?? "", args, { env, timeout: 30_000 }, (failure, stdout, stderr) =>
      resolve({ code: failure === null ? 0 : Number(failure.code ?? 1), text: stdout + stderr }),
    );
  });
}

describe.skipIf(lacks(program !== undefined, needs))(
  "istioctl and a server without authentication",
  { timeout: 60_000 },
  () => {
    let home: string;
    let shop: Bookshop;
    let dev: Awaited<ReturnType<typeof startDev>>;
    let envoy: RunningEnvoy;
    let dump: string;
    const clusters = () => join(home, "clusters.json");
    /** No cluster is there to ask which revision is meant. */
    const plainly = () => ["--revision", "default", "--plaintext", "--xds-address", new URL(dev.grpcUrl).host];

    beforeAll(async () => {
      home = await mkdtemp(join(tmpdir(), "portolan-istioctl-"));
      shop = await openBookshop();
      dev = await startDev(shop.folder, ["--grpc-port", "0", "--certificates", "none"]);
      envoy = await startGateway(dev.grpcUrl, { transport: "delta", certificates: "none" });
      await eventually(
        async () => Number(await envoy.stat("listener_manager.total_listeners_active")),
        (count) => count > 0,
        20_000,
      );
      dump = join(home, "dump.json");
      await writeFile(dump, await envoy.admin("/config_dump?include_eds"));
      await writeFile(clusters(), await envoy.admin("/clusters?format=json"));
    }, 120_000);

    afterAll(async () => {
      await envoy?.stop();
      await dev?.stop();
      await shop?.close();
      await rm(home, { recursive: true, force: true });
    });

    it("proxy-status lists a real Envoy with the types that it has", async () => {
      const { code, text } = await istioctl(home, "proxy-status", ...plainly());
      expect(text).toMatch(/NAME +CLUSTER +ISTIOD +VERSION +SUBSCRIBED TYPES/);
      expect(text).toMatch(/ingress\S*\.bookshop .*portolan .*\d \(CDS,LDS,EDS,RDS\)/);
      expect(code).toBe(0);
      const experimental = await istioctl(home, "experimental", "proxy-status", ...plainly());
      expect(experimental.text).toMatch(/ingress\S*\.bookshop .*\d \(CDS,LDS,EDS,RDS\)/);
      const { text: all } = await istioctl(home, "proxy-status", "--verbosity", "1", ...plainly());
      expect(all).toMatch(/SYNCED .*SYNCED .*SYNCED .*SYNCED/);
    });

    it("proxy-status of one Envoy finds that it runs what is served", async () => {
      const name = /\S+\.bookshop/.exec((await istioctl(home, "proxy-status", ...plainly())).text)?.[0] ?? "";
      const { text } = await istioctl(home, "proxy-status", name, "--file", dump, ...plainly());
      expect(text).toContain("Clusters Match");
      expect(text).toContain("Listeners Match");
      expect(text).toContain("Routes Match");
      const none = await istioctl(home, "proxy-status", "db.bookshop", "--file", dump, ...plainly());
      expect(none).toMatchObject({ code: 1, text: expect.stringContaining('no proxy "db.bookshop"') });
    });

    it("proxy-config reads the dump of a stock Envoy, and internal-debug lists what there is", async () => {
      for (const [kind, found] of [
        ["cluster", "catalog.bookshop.svc.cluster.local"],
        ["listener", "0.0.0.0"],
        ["route", "catalog"],
        ["bootstrap", "istio-ingressgateway"],
      ] as const)
        expect((await istioctl(home, "proxy-config", kind, "--file", dump)).text).toContain(found);
      expect((await istioctl(home, "proxy-config", "endpoint", "--file", clusters())).text).toContain("HEALTHY");
      const debug = ["experimental", "internal-debug", "registryz", ...plainly()];
      expect((await istioctl(home, ...debug)).text).toContain('"syncz"');
    });
  },
);

describe.skipIf(lacks(program !== undefined, needs) || !hasApiServer())(
  "istioctl, with tokens of an API server, and a server over TLS",
  { timeout: 90_000 },
  () => {
    let server: ApiServer;
    let home: string;

    beforeAll(async () => {
      server = await openApiServer();
      home = await mkdtemp(join(tmpdir(), "portolan-istioctl-"));
      await createObject(server, { apiVersion: "v1", kind: "Namespace", metadata: { name: "istio-system" } });
      for (const namespace of ["istio-system", "default"])
        await createObject(server, {
          apiVersion: "v1",
          kind: "ServiceAccount",
          metadata: { name: "default", namespace },
        });
      const spec = { serviceAccountName: "default", containers: [{ name: "app", image: "app" }] };
      const metadata = { name: "web", namespace: "default" };
      await createObject(server, { apiVersion: "v1", kind: "Pod", metadata, spec });
    }, 120_000);

    afterAll(async () => {
      await server?.close();
      await rm(home, { recursive: true, force: true });
    });

    /** As a kubelet mounts it into the pod web. */
    const podToken = async () => {
      const path = "/api/v1/namespaces/default/serviceaccounts/default/token";
      const boundObjectRef = { apiVersion: "v1", kind: "Pod", name: "web" };
      const { status } = await server.ask("POST", path, { spec: { audiences: ["istio-ca"], boundObjectRef } });
      return textOf(fieldsOf(status).token);
    };

    /** A server over TLS, and without, that knows the API server's keys, with one proxy. */
    async function serving(subjects: object) {
      const jwks = await server.ask("GET", "/openid/v1/jwks");
      const issuers = [{ issuer: "https://kubernetes.default.svc", audience: "istio-ca", jwks }];
      const authentication = readAuthentication(JSON.stringify({ issuers, subjects }));
      const store = memoryStore();
      const stored = authorityStore(store, testWrapper());
      const active = await makeSigner("cluster.local", Date.now());
      await stored.write({ version: 1, trustDomain: "cluster.local", active }, undefined);
      const onError = (cause: unknown) => expect.unreachable(String(cause));
      const authority = certificateAuthority({ stored, now: Date.now, onError });
      const nodes = recordedNodes(store, { front: undefined, now: Date.now, everyMs: 60_000, limits, onError });
      const test = testFront({ store, authority, authentication, nodes });
      await test.publish(withBinary(worldOf({ web: { clusters: { a: "1" } } })));
      const certificate = await keepCertificate(authorityCertificate(authority, ["istiod.istio-system.svc"]), onError);
      const [tls, plain] = [await serveGrpc(test.front, 0, "127.0.0.1", certificate), await serveGrpc(test.front, 0)];
      const proxy = openStream(plain.url, "sotw", { authorization: `Bearer ${await podToken()}` });
      proxy.ask({ type: "clusters" });
      const { version, nonce } = await proxy.next();
      proxy.ask({ type: "clusters", version, nonce });
      await proxy.isQuiet();
      return {
        address: new URL(tls.url).host,
        async close() {
          proxy.close();
          test.front.close();
          await Promise.all([tls.close(), plain.close()]);
        },
      };
    }

    const status = (address: string) =>
      istioctl(home, "proxy-status", "--revision", "default", "-c", server.kubeconfig, "--xds-address", address);

    it("lists proxies to the account of istio-system that an operator has granted it to", async () => {
      const { address, close } = await serving({ "system:serviceaccount:istio-system:default": { scope: "operator" } });
      expect((await status(address)).text).toMatch(/web\.default .*1 \(CDS\)/);
      await close();
    });

    it("lists none to an account that nothing is granted to, and says why", async () => {
      const { address, close } = await serving({});
      const { code, text } = await status(address);
      expect(text).toContain("system:serviceaccount:istio-system:default may read of no proxy");
      expect(code).toBe(1);
      await close();
    });
  },
);
