/** Certificates of clients on the port with TLS: what each proves, and the forms that prove nothing. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AggregatedDiscoveryService } from "../../../gen/envoy/service/discovery/v3/ads_pb.ts";
import { IstioCertificateService } from "../../../gen/istio/auth/ca_pb.ts";
import type { Authority, Signer } from "../../../lib/ca/authority.ts";
import { type AuthorityStore, authorityStore } from "../../../lib/ca/authority-store.ts";
import { type CertificateAuthority, certificateAuthority } from "../../../lib/ca/certificate-authority.ts";
import { makeSigner } from "../../../lib/ca/make-signer.ts";
import { activateNext, addNext, retirePrevious } from "../../../lib/ca/rotation.ts";
import { trustBundleUrl } from "../../../lib/front/ads/trust-bundles.ts";
import { readAuthentication } from "../../../lib/front/auth/settings.ts";
import { serveGrpc } from "../../../lib/front/connect/grpc-server.ts";
import { authorityCertificate, keepCertificate } from "../../../lib/front/connect/server-certificate.ts";
import type { RunningServer } from "../../../lib/front/node-server.ts";
import { typeUrlOf } from "../../../lib/snapshot/resource-type.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { type CertificateForm, leafOf, requestFor, testWrapper } from "../../ca/requests.ts";
import { worldOf } from "../../snapshot/worlds.ts";
import { nodeOf, testFront } from "../fixtures.ts";

const issuer = "https://kubernetes.default.svc.cluster.local";
const serverName = "istiod.istio-system.svc";
const web = "spiffe://cluster.local/ns/default/sa/web";
const admin = "spiffe://cluster.local/ns/default/sa/admin";
const revokedId = "spiffe://cluster.local/ns/default/sa/lost";
const revokedSerial = "5a5a5a5a5a5a5a5a";
const hourMs = 3_600_000;

/** A certificate and its key, PEM. */
interface Pair {
  readonly cert: string;
  readonly key: string;
}

let stored: AuthorityStore;
let authority: Authority;
let foreign: Signer;
let ca: CertificateAuthority;
let grpc: RunningServer;
let closeFront = () => {};
let signing: CryptoKey;
let aheadMs = 0;

beforeAll(async () => {
  stored = authorityStore(memoryStore(), testWrapper());
  authority = { version: 1, trustDomain: "cluster.local", active: await makeSigner("cluster.local", Date.now()) };
  foreign = await makeSigner("cluster.local", Date.now());
  await stored.write(authority, undefined);
  ca = certificateAuthority({
    stored,
    now: () => Date.now() + aheadMs,
    onError: (cause) => expect.unreachable(String(cause)),
  });
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  signing = privateKey;
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), alg: "ES256" }] };
  const setting = {
    issuers: [{ issuer, audience: ["istio-ca"], jwks }],
    certificates: {
      platform: "tls",
      trustDomains: ["cluster.local"],
      clusterId: "Kubernetes",
      revoked: [revokedId, "5A:5A:5A:5A:5A:5A:5A:5A"],
    },
  };
  const authentication = readAuthentication(JSON.stringify(setting), { authorityIssuers: () => ca.issuers() });
  const test = testFront({ authority: ca, authentication });
  await test.publish(worldOf({ web: {} }));
  const certificate = await keepCertificate(authorityCertificate(ca, [serverName]), (cause) =>
    expect.unreachable(String(cause)),
  );
  grpc = await serveGrpc(test.front, 0, "127.0.0.1", certificate);
  closeFront = test.front.close;
});
afterAll(async () => {
  closeFront();
  await grpc.close();
});

const nodeOptions = (pair?: Pair) => ({ ca: authority.active.certificate, servername: serverName, ...pair });
const over = (pair?: Pair) => createGrpcTransport({ baseUrl: grpc.url, nodeOptions: nodeOptions(pair) });
const forged = (form: Partial<CertificateForm> = {}, by: Signer = authority.active): Promise<Pair> =>
  leafOf(by, { names: [{ type: "url", value: web }], ...form });

/** The names of the certificate that is given. @throws ConnectError */
async function ask(pair: Pair | undefined, headers: Record<string, string> = {}, metadata = {}): Promise<string> {
  const { csr } = await requestFor();
  const client = createClient(IstioCertificateService, over(pair));
  const { certChain } = await client.createCertificate({ csr, metadata }, { headers });
  return new X509Certificate(certChain[0] ?? "").subjectAltName ?? "";
}

const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    (found) => `ok: ${String(found)}`,
    (cause: unknown) => Code[ConnectError.from(cause).code] ?? "",
  );

const bearer = async (serviceAccount: string) => {
  const token = new SignJWT({})
    .setProtectedHeader({ alg: "ES256" })
    .setIssuer(issuer)
    .setAudience("istio-ca")
    .setSubject(`system:serviceaccount:default:${serviceAccount}`)
    .setExpirationTime("1h");
  return { authorization: `Bearer ${await token.sign(signing)}` };
};

describe("a client with a certificate of this CA", () => {
  it("renews it without a token, again and again, for its own identity", async () => {
    const { csr, key } = await requestFor();
    const first = createClient(IstioCertificateService, over());
    const { certChain } = await first.createCertificate({ csr }, { headers: await bearer("web") });
    const pair = { cert: certChain.slice(0, -1).join(""), key };
    const renewing = await requestFor("RSA 2048");
    const second = await createClient(IstioCertificateService, over(pair)).createCertificate({ csr: renewing.csr });
    expect(new X509Certificate(second.certChain[0] ?? "").checkPrivateKey(createPrivateKey(renewing.key))).toBe(true);
    expect(await ask({ cert: second.certChain[0] ?? "", key: renewing.key })).toBe(`URI:${web}`);
  });

  it("may ask over Connect on the same port, too", async () => {
    const transport = createConnectTransport({
      baseUrl: grpc.url,
      httpVersion: "2",
      nodeOptions: nodeOptions(await forged()),
    });
    const { csr } = await requestFor();
    const { certChain } = await createClient(IstioCertificateService, transport).createCertificate({ csr });
    expect(new X509Certificate(certChain[0] ?? "").subjectAltName).toBe(`URI:${web}`);
  });

  it("is served a stream as the node of its own namespace, and as no other", async () => {
    const stream = async (namespace: string, asked: string) => {
      const client = createClient(AggregatedDiscoveryService, over(await forged()));
      const closing = new AbortController();
      const questions = async function* () {
        const node = nodeOf("web");
        const metadata = { ...node.metadata, CLUSTER_ID: "Kubernetes", NAMESPACE: namespace };
        yield { node: { ...node, metadata }, typeUrl: asked };
        await new Promise((resolve) => closing.signal.addEventListener("abort", resolve));
      };
      for await (const { typeUrl } of client.streamAggregatedResources(questions(), { signal: closing.signal })) {
        closing.abort();
        return typeUrl;
      }
      return "";
    };
    expect(await stream("default", trustBundleUrl)).toBe(trustBundleUrl);
    // Known for whom it asks, and in no class of this mesh.
    expect(await codeOf(stream("default", typeUrlOf("clusters")))).toBe("NotFound");
    expect(await codeOf(stream("kube-system", typeUrlOf("clusters")))).toBe("PermissionDenied");
  });

  it("is who its certificate says, whatever token, header or metadata it adds", async () => {
    const pair = await forged();
    expect(await ask(pair, await bearer("admin"))).toBe(`URI:${web}`);
    expect(await ask(pair, { "x-forwarded-client-cert": `URI=${admin}` })).toBe(`URI:${web}`);
    expect(await codeOf(ask(pair, {}, { ImpersonatedIdentity: admin }))).toBe("Unauthenticated");
  });

  it("needs a token, if it has no certificate", async () => {
    expect(await codeOf(ask(undefined))).toBe("Unauthenticated");
    expect(await ask(undefined, await bearer("web"))).toBe(`URI:${web}`);
  });
});

const url = (value: string): CertificateForm["names"] => [{ type: "url", value }];
const forms: readonly (readonly [string, () => Promise<Pair>])[] = [
  ["that is over", () => forged({ notBeforeMs: Date.now() - 2 * hourMs, notAfterMs: Date.now() - 1_000 })],
  ["of a time to come", () => forged({ notBeforeMs: Date.now() + hourMs })],
  ["of a CA with the same names, and another key", () => forged({}, foreign)],
  ["that it has signed itself", async () => forged({ isSelfSigned: true })],
  ["that is the CA's own", async () => ({ cert: authority.active.certificate, key: authority.active.key })],
  ["of an authority", () => forged({ isAuthority: true })],
  [
    "that the holder of another certificate has signed",
    async () => {
      const { cert, key } = await forged();
      return forged({ names: url(admin) }, { ...authority.active, certificate: cert, key });
    },
  ],
  ["for servers alone", () => forged({ purposes: ["1.3.6.1.5.5.7.3.1"] })],
  ["without any name", () => forged({ names: [] })],
  ["of a DNS name", () => forged({ names: [{ type: "dns", value: serverName }] })],
  ["of a DNS name that looks like another kind", () => forged({ names: [{ type: "dns", value: `x, URI:${admin}` }] })],
  ["of an e-mail address", () => forged({ names: [{ type: "email", value: `web@${admin}` }] })],
  ["of two identities", () => forged({ names: [...url(web), ...url(admin)] })],
  ["of one identity twice", () => forged({ names: [...url(web), ...url(web)] })],
  ["of another trust domain", () => forged({ names: url("spiffe://partner.example/ns/default/sa/web") })],
  ["of a trust domain in capitals", () => forged({ names: url("spiffe://CLUSTER.LOCAL/ns/default/sa/web") })],
  ["of a trust domain behind a user", () => forged({ names: url("spiffe://cluster.local@evil/ns/default/sa/web") })],
  ["of a trust domain with a port", () => forged({ names: url("spiffe://cluster.local:80/ns/default/sa/web") })],
  ["of no namespace", () => forged({ names: url("spiffe://cluster.local/ns//sa/web") })],
  ["of no account", () => forged({ names: url("spiffe://cluster.local/ns/default/sa/") })],
  ["of more than an account", () => forged({ names: url(`${web}/../admin`) })],
  ["of another form", () => forged({ names: url("spiffe://cluster.local/workload/web") })],
  ["of another scheme", () => forged({ names: url("https://cluster.local/ns/default/sa/web") })],
  ["with a serial number that is revoked", () => forged({ serial: revokedSerial })],
  ["of an identity that is revoked", () => forged({ names: url(revokedId) })],
];

describe("a certificate", () => {
  it.each(forms)("%s proves nothing, and a good token beside it does not help", async (_form, make) => {
    const pair = await make();
    expect(await codeOf(ask(pair))).toBe("Unauthenticated");
    expect(await codeOf(ask(pair, await bearer("web")))).toBe("Unauthenticated");
  });

  it.each([
    ["spiffe://cluster.local/ns/default/sa/web%2F..%2Fadmin"],
    ["spiffe://cluster.local/ns/default/sa/web?x"],
    ["spiffe://cluster.local/ns/Default/sa/web"],
  ])("for %s, which Kubernetes has not, gets no other", async (id) => {
    expect(await codeOf(ask(await forged({ names: url(id) })))).toBe("InvalidArgument");
  });

  it("of the key before a rotation counts until that key is retired", async () => {
    const pair = await forged();
    const step = { nowMs: Date.now(), longestMs: hourMs, force: true };
    const change = async (make: (before: Authority) => Authority) => {
      const before = await stored.read();
      if (before !== undefined) await stored.write(make(before.authority), before);
      aheadMs += 11_000;
    };
    const next = await makeSigner("cluster.local", Date.now());
    await change((before) => activateNext(addNext(before, next), step));
    expect(await ask(pair)).toBe(`URI:${web}`);
    await change((before) => retirePrevious(before, step));
    expect(await codeOf(ask(await forged()))).toBe("Unauthenticated");
    expect(await ask(await forged({}, next))).toBe(`URI:${web}`);
  });
});
