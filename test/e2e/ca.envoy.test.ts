import { X509Certificate } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { IstioCertificateService } from "../../gen/istio/auth/ca_pb.ts";
import { type Authority, pemBlocks, type Signer } from "../../lib/ca/authority.ts";
import { type AuthorityStore, authorityStore } from "../../lib/ca/authority-store.ts";
import { certificateAuthority } from "../../lib/ca/certificate-authority.ts";
import { makeSigner } from "../../lib/ca/make-signer.ts";
import { activateNext, addNext, retirePrevious } from "../../lib/ca/rotation.ts";
import { readAuthentication } from "../../lib/front/auth/settings.ts";
import { serveGrpc } from "../../lib/front/connect/grpc-server.ts";
import { authorityCertificate, keepCertificate } from "../../lib/front/connect/server-certificate.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { leafOf, requestFor, testWrapper } from "../ca/requests.ts";
import { testFront } from "../front/fixtures.ts";
import { writeIdentity } from "./certificates.ts";
import { type Identities, istio, type RunningSidecars, startSidecars } from "./sidecars.ts";

const policies = () => [
  istio("PeerAuthentication", "security/v1", "default", { mtls: { mode: "STRICT" } }),
  istio("AuthorizationPolicy", "security/v1", "client-only", {
    selector: { matchLabels: { app: "server" } },
    rules: [{ from: [{ source: { principals: ["cluster.local/ns/default/sa/client"] } }] }],
  }),
];

/** What a workload has now. */
interface Issued {
  readonly folder: string;
  /** File with the roots. */
  readonly roots: string;
  /** Of its certificate and of the roots, as Envoy writes them. */
  readonly serials: readonly string[];
}

const serialOf = (pem: string): string => new X509Certificate(pem).serialNumber.toLowerCase();

const issuer = "https://kubernetes.default.svc.cluster.local";
const serverName = "istiod.istio-system.svc";

/** A front with a CA, over TLS, which agents ask by gRPC. */
async function startAuthority() {
  const stored: AuthorityStore = authorityStore(memoryStore(), testWrapper());
  const active = await makeSigner("cluster.local", Date.now());
  await stored.write({ version: 1, trustDomain: "cluster.local", active }, undefined);
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const keys = [{ ...(await exportJWK(publicKey)), alg: "ES256" }];
  const setting = { issuers: [{ issuer, audience: "istio-ca", jwks: { keys } }] };
  // The clock is turned by hand: the CA looks for another signer after some seconds of it.
  let aheadMs = 0;
  const now = () => Date.now() + aheadMs;
  const authority = certificateAuthority({ stored, now, onError: (cause) => expect.unreachable(String(cause)) });
  const { front } = testFront({ authority, authentication: readAuthentication(JSON.stringify(setting)) });
  const certificate = await keepCertificate(authorityCertificate(authority, [serverName]), () => {});
  const grpc = await serveGrpc(front, 0, "127.0.0.1", certificate);
  const trusted = active.certificate;
  let issued = 0;

  return {
    active,
    async change(change: (authority: Authority) => Authority): Promise<void> {
      const before = await stored.read();
      if (before !== undefined) await stored.write(change(before.authority), before);
      aheadMs += 15_000;
    },
    /** The files of a service account's certificate, as its agent asks for it, again in place of those before. */
    async issue(directory: string, serviceAccount: string): Promise<Issued> {
      const token = await new SignJWT({})
        .setProtectedHeader({ alg: "ES256" })
        .setIssuer(issuer)
        .setAudience("istio-ca")
        .setSubject(`system:serviceaccount:default:${serviceAccount}`)
        .setExpirationTime("1h")
        .sign(privateKey);
      const nodeOptions = { ca: trusted, servername: serverName };
      issued += 1;
      const client = createClient(IstioCertificateService, createGrpcTransport({ baseUrl: grpc.url, nodeOptions }));
      const { csr, key } = await requestFor(serviceAccount === "client" ? "RSA 2048" : "P-256");
      const { certChain } = await client.createCertificate({ csr }, { headers: { authorization: `Bearer ${token}` } });
      const folder = join(directory, serviceAccount);
      mkdirSync(folder, { recursive: true });
      const write = (name: string, text: string): string => {
        writeFileSync(join(folder, `${issued}-${name}`), text);
        return join(folder, `${issued}-${name}`);
      };
      writeIdentity(folder, {
        certificate: write("cert.pem", certChain.slice(0, -1).join("")),
        key: write("key.pem", key),
        roots: write("root.pem", certChain.at(-1) ?? ""),
      });
      const roots = pemBlocks(certChain.at(-1) ?? "", "CERTIFICATE");
      return {
        folder,
        roots: join(folder, `${issued}-root.pem`),
        serials: [certChain[0] ?? "", ...roots].map(serialOf),
      };
    },
    async close(): Promise<void> {
      front.close();
      await grpc.close();
    },
  };
}

describe("two Envoys with certificates of this CA", () => {
  let mesh: RunningSidecars;
  let ours: Awaited<ReturnType<typeof startAuthority>>;
  let others: Awaited<ReturnType<typeof startAuthority>>;

  beforeAll(async () => {
    ours = await startAuthority();
    others = await startAuthority();
    mesh = await startSidecars(policies, "istio", false, async (directory): Promise<Identities> => {
      const next = await makeSigner("cluster.local", Date.now());
      await ours.change((authority) => addNext(authority, next));
      // One has a certificate of the key before, the other of the key that signs since.
      const client = await ours.issue(directory, "client");
      await ours.change((authority) => activateNext(authority, { nowMs: Date.now(), longestMs: 0, force: true }));
      const server = await ours.issue(directory, "server");
      const stranger = await others.issue(directory, "stranger");
      const all: Readonly<Record<string, Issued>> = { client, server, stranger };
      return { roots: server.roots, folderOf: (name) => all[name]?.folder ?? "" };
    });
  });
  afterAll(async () => {
    await mesh?.stop();
    await Promise.all([ours.close(), others.close()]);
  });

  it("speak mutual TLS in the middle of a rotation, and the one is known to the other by its identity", async () => {
    expect(await mesh.ask("client", "/")).toEqual({ status: 200, body: "the app" });
  });

  it("take no plain text, and no certificate of another CA", async () => {
    await expect(mesh.askPlainly("/")).rejects.toThrow();
    expect((await mesh.ask("stranger", "/")).status).toBe(503);
  });
});

/** Each request on a connection of its own, so that each takes the certificates of the moment. */
const oneRequestEach = () => [
  istio("DestinationRule", "networking/v1", "server", {
    host: "server.default.svc.cluster.local",
    trafficPolicy: { connectionPool: { http: { maxRequestsPerConnection: 1 } } },
  }),
];

describe("a rotation under traffic", () => {
  let mesh: RunningSidecars;
  let ca: Awaited<ReturnType<typeof startAuthority>>;
  let directory: string;

  beforeAll(async () => {
    ca = await startAuthority();
    mesh = await startSidecars(
      () => [...policies(), ...oneRequestEach()],
      "istio",
      false,
      async (folder): Promise<Identities> => {
        directory = folder;
        const server = await ca.issue(folder, "server");
        await ca.issue(folder, "client");
        return { roots: server.roots, folderOf: async (name) => (await ca.issue(folder, name)).folder };
      },
    );
  });
  afterAll(async () => {
    await mesh?.stop();
    await ca?.close();
  });

  /** Gives a workload a new certificate, and waits until its Envoy has it and its roots, and no other roots. */
  async function renew(who: "client" | "server"): Promise<void> {
    const { serials } = await ca.issue(directory, who);
    const had = async () => {
      const { certificates } = JSON.parse(await mesh.admin(who, "/certs"));
      const all = JSON.stringify(certificates).matchAll(/"serial_number":"(\w+)"/g);
      return [...new Set([...all].map(([, serial]) => serial))].sort();
    };
    await expect.poll(had).toEqual([...serials].sort());
  }

  it("of the root, and then of an intermediate below it, fails no request", async () => {
    const answers: number[] = [];
    let isOver = false;
    const traffic = (async () => {
      while (!isOver) answers.push((await mesh.ask("client", "/")).status);
    })();
    const during = async () => {
      const before = answers.length;
      await expect.poll(() => answers.length).toBeGreaterThan(before + 10);
    };
    const step = { nowMs: Date.now(), longestMs: 0, force: true };
    const rotateTo = async (next: Signer) => {
      await ca.change((authority) => addNext(authority, next));
      for (const who of ["client", "server"] as const) await renew(who);
      await during();
      await ca.change((authority) => activateNext(authority, step));
      await renew("server");
      await during();
      await renew("client");
      await during();
      await ca.change((authority) => retirePrevious(authority, step));
      for (const who of ["server", "client"] as const) await renew(who);
      await during();
    };
    const root = await makeSigner("cluster.local", Date.now());
    await rotateTo(root);
    const { cert, key } = await leafOf(root, { names: [], isAuthority: true, notAfterMs: Date.now() + 48 * 3_600_000 });
    await rotateTo({ ...root, certificate: cert, key });
    isOver = true;
    await traffic;
    expect([new Set(answers), answers.length > 60]).toEqual([new Set([200]), true]);
  });
});
