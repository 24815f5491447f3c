/** The front in workerd as the mesh's CA: a workload's certificate over Connect and gRPC-Web. */
import { X509Certificate } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { R2Bucket } from "@cloudflare/workers-types";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestHarness } from "wrangler";
import { IstioCertificateService } from "../../gen/istio/auth/ca_pb.ts";
import { authorityStore } from "../../lib/ca/authority-store.ts";
import { importSigner } from "../../lib/ca/import-signer.ts";
import { makeWrappingKey } from "../../lib/secrets/environment-key.ts";
import { wrappingKeys } from "../../lib/secrets/wrapping-keys.ts";
import { r2Store } from "../../lib/storage/r2.ts";
import { requestFor, rsaRoot } from "../ca/requests.ts";
import { writeFrontConfig } from "./front-config.ts";

const issuer = "https://kubernetes.default.svc.cluster.local";
let folder: string;
let harness: ReturnType<typeof createTestHarness>;
let root: string;
let tokenOf: (subject: string) => Promise<string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-worker-ca-"));
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  tokenOf = (subject) =>
    new SignJWT({})
      .setProtectedHeader({ alg: "ES256" })
      .setIssuer(issuer)
      .setAudience("istio-ca")
      .setSubject(subject)
      .setExpirationTime("1h")
      .sign(privateKey);
  const keys = [{ ...(await exportJWK(publicKey)), alg: "ES256" }];
  const secretsKey = makeWrappingKey();
  const configPath = await writeFrontConfig(folder, { main: "functions/front-certificates.worker.ts" });
  const vars = {
    AUTHENTICATION: JSON.stringify({ issuers: [{ issuer, audience: "istio-ca", jwks: { keys } }] }),
    CA: "on",
    CA_MAX_HOURS: "2",
    PORTOLAN_SECRETS_KEY: secretsKey,
  };
  harness = createTestHarness({ workers: [{ configPath, vars }] });
  await harness.listen();
  const { SNAPSHOTS } = await harness.getWorker<{ readonly SNAPSHOTS: R2Bucket }>("portolan-front").getEnv();
  // As an istiod's own root has it, RSA.
  const active = importSigner(await rsaRoot(), Date.now());
  root = active.certificate;
  const stored = authorityStore(r2Store(SNAPSHOTS), wrappingKeys(secretsKey, "TEST_KEY"));
  await stored.write({ version: 1, trustDomain: "cluster.local", active }, undefined);
}, 120_000);

afterAll(async () => {
  await harness?.close();
  await rm(folder, { recursive: true, force: true });
});

describe.each([
  ["Connect", createConnectTransport],
  ["gRPC-Web", createGrpcWebTransport],
])("a Worker with the CA, over %s", (_name, transportOf) => {
  async function create(subject: string, request: { readonly csr: string; readonly validityDuration?: bigint }) {
    const worker = harness.getWorker("portolan-front");
    const transport = transportOf({
      baseUrl: "http://front",
      useBinaryFormat: true,
      fetch: async (input, init) => {
        const asked = new Request(input, init);
        const body = new Uint8Array(await asked.arrayBuffer());
        const headers = Object.fromEntries(asked.headers);
        const answer = await worker.fetch(asked.url, { method: "POST", headers, body });
        return new Response(await answer.arrayBuffer(), {
          status: answer.status,
          headers: Object.fromEntries(answer.headers),
        });
      },
    });
    const headers = { authorization: `Bearer ${await tokenOf(subject)}` };
    return createClient(IstioCertificateService, transport).createCertificate(request, { headers });
  }
  const codeOf = (call: Promise<unknown>) =>
    call.then(
      () => "ok",
      (cause: unknown) => Code[ConnectError.from(cause).code],
    );

  it.each(["P-256", "RSA 2048"] as const)("signs the key of a workload, %s, for its own identity", async (type) => {
    const { csr } = await requestFor(type);
    const { certChain } = await create("system:serviceaccount:shop:web", { csr });
    const leaf = new X509Certificate(certChain[0] ?? "");
    expect(leaf.subjectAltName).toBe("URI:spiffe://cluster.local/ns/shop/sa/web");
    expect(leaf.verify(new X509Certificate(root).publicKey)).toBe(true);
    expect(certChain.slice(1)).toEqual([root]);
  });

  it("signs nothing for another, and nothing for longer than it may", async () => {
    const { csr } = await requestFor();
    expect(await codeOf(create("admin", { csr }))).toBe("Unauthenticated");
    const long = create("system:serviceaccount:shop:web", { csr, validityDuration: 7_201n });
    expect(await codeOf(long)).toBe("InvalidArgument");
  });
});
