import { X509Certificate } from "node:crypto";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { IstioCertificateService } from "../../gen/istio/auth/ca_pb.ts";
import { authorityStore } from "../../lib/ca/authority-store.ts";
import { makeSigner } from "../../lib/ca/make-signer.ts";
import { createToken } from "../../lib/front/auth/token.ts";
import { awsKms } from "../../lib/secrets/aws-kms.ts";
import { secretStore } from "../../lib/secrets/secret-store.ts";
import { secretTypeUrl } from "../../lib/secrets/tls-secret.ts";
import { wrappingKeys } from "../../lib/secrets/wrapping-keys.ts";
import { makeSigningKey, publicPart } from "../../lib/snapshot/head/signing-keys.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { s3Store } from "../../lib/storage/s3.ts";
import { requestFor } from "../ca/requests.ts";
import { startBridge } from "../e2e/lambda-bridge.ts";
import { nodeOf } from "../front/fixtures.ts";
import { worldNaming } from "../front/naming-world.ts";
import { type KmsServer, startKms } from "../secrets/kms-server.ts";
import { type S3Server, startS3 } from "../storage/s3-server.ts";
import { LambdaEnvironments } from "./lambda-environments.ts";
import { lambdaFunctions } from "./lambda-functions.ts";

let s3: S3Server;
let kms: KmsServer;
let front: LambdaEnvironments;
let bridge: { readonly url: string; close(): Promise<void> };
let token: string;
let root: string;

beforeAll(async () => {
  s3 = await startS3();
  kms = await startKms();
  const store = s3Store({ client: s3.client, bucket: s3.bucket });
  const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 } });
  await publisher.publish(worldNaming("kubernetes://shop"), await publisher.head());

  const setting = `aws-kms:${await kms.createKey()}`;
  for (const [name, value] of Object.entries(kms.environment("WRITER"))) vi.stubEnv(name, value);
  const secrets = secretStore(store, wrappingKeys(setting, "KEY", awsKms({ onWarning: () => {} })));
  const values = { "tls.crt": btoa("certificate"), "tls.key": btoa("s3cret") };
  await secrets.put({ namespace: "default", name: "shop" }, { values });
  const active = await makeSigner("cluster.local", Date.now());
  const authorities = authorityStore(store, wrappingKeys(setting, "KEY", awsKms({ onWarning: () => {} })));
  await authorities.write({ version: 1, trustDomain: "cluster.local", active }, undefined);
  root = active.certificate;
  vi.unstubAllEnvs();

  const signing = await makeSigningKey("tokens");
  const grant = { scope: "node", namespace: "default", serviceAccount: "web" } as const;
  token = await createToken(signing, grant, { subject: "web", nowMs: Date.now(), ttlSeconds: 600 });
  const { front: code } = await lambdaFunctions();
  front = new LambdaEnvironments(code, {
    // One account's credentials are for both services.
    ...kms.environment(s3.accessKeyId, s3.secretAccessKey),
    PORTOLAN_BUCKET: s3.bucket,
    PORTOLAN_S3_ENDPOINT: s3.endpoint,
    PORTOLAN_SECRETS_KEY: setting,
    PORTOLAN_CA: "on",
    PORTOLAN_AUTHENTICATION: JSON.stringify({ tokens: { keys: [publicPart(signing)] } }),
  });
  bridge = await startBridge(front.handler);
}, 120_000);

afterAll(async () => {
  await bridge?.close();
  await front?.kill();
  await Promise.all([s3?.close(), kms?.close()]);
});

describe("the front on Lambda", () => {
  it("signs certificates with a CA that KMS has wrapped, which it opens once", async () => {
    const transport = createConnectTransport({ baseUrl: bridge.url, httpVersion: "1.1" });
    const client = createClient(IstioCertificateService, transport);
    const before = kms.calls.length;
    for (let request = 0; request < 3; request += 1) {
      const { csr } = await requestFor();
      const { certChain } = await client.createCertificate({ csr }, { headers: { authorization: `Bearer ${token}` } });
      const leaf = new X509Certificate(certChain[0] ?? "");
      expect(leaf.subjectAltName).toBe("URI:spiffe://cluster.local/ns/default/sa/web");
      expect(leaf.verify(new X509Certificate(root).publicKey)).toBe(true);
    }
    expect(kms.calls.slice(before)).toEqual([`${s3.accessKeyId} Decrypt`]);
    await front.kill();
  });

  it("serves what AWS KMS wraps, and asks KMS once for each environment", async () => {
    const ask = async () => {
      const response = await fetch(`${bridge.url}/v3/discovery:secrets`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
        body: JSON.stringify({ node: nodeOf("web"), resource_names: ["kubernetes://shop"], type_url: secretTypeUrl }),
      });
      return [response.status, await response.text()];
    };
    const [before, started] = [kms.calls.length, front.started];
    for (let poll = 0; poll < 5; poll += 1) expect(await ask()).toEqual([200, expect.stringContaining(btoa("s3cret"))]);
    await front.kill();
    expect(await ask()).toEqual([200, expect.stringContaining(btoa("s3cret"))]);
    const decrypts = kms.calls.slice(before).filter((call) => call === `${s3.accessKeyId} Decrypt`);
    expect([decrypts.length, front.started - started]).toEqual([2, 2]);
  });
});
