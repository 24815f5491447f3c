import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AggregatedDiscoveryService } from "../../../gen/envoy/service/discovery/v3/ads_pb.ts";
import { ListenerDiscoveryService } from "../../../gen/envoy/service/listener/v3/lds_pb.ts";
import { SecretDiscoveryService } from "../../../gen/envoy/service/secret/v3/sds_pb.ts";
import { IstioCertificateService } from "../../../gen/istio/auth/ca_pb.ts";
import { ProxyConfigSchema } from "../../../gen/istio/mesh/v1alpha1/proxy_config_pb.ts";
import { NameTableSchema } from "../../../gen/istio/networking/nds/v1/nds_pb.ts";
import { keepIdentity } from "../../../lib/agent/identity/identity-files.ts";
import { identityOfServer } from "../../../lib/agent/identity/identity-of-server.ts";
import { createFrontClient } from "../../../lib/agent/source/front-client.ts";
import type { Authority } from "../../../lib/ca/authority.ts";
import { authorityStore } from "../../../lib/ca/authority-store.ts";
import { type CertificateRecord, certificateAuthority } from "../../../lib/ca/certificate-authority.ts";
import { makeCertificateRequest } from "../../../lib/ca/certificate-request.ts";
import { makeSigner } from "../../../lib/ca/make-signer.ts";
import { tableName } from "../../../lib/front/ads/empty-table.ts";
import { trustBundleUrl } from "../../../lib/front/ads/trust-bundles.ts";
import { frontApp } from "../../../lib/front/app.ts";
import { readAuthentication } from "../../../lib/front/auth/settings.ts";
import { serveGrpc } from "../../../lib/front/connect/grpc-server.ts";
import { mountConnect } from "../../../lib/front/connect/mount.ts";
import { authorityCertificate, keepCertificate } from "../../../lib/front/connect/server-certificate.ts";
import { type RunningServer, serveHttp } from "../../../lib/front/node-server.ts";
import { typeUrlOf } from "../../../lib/snapshot/resource-type.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { nameTableName } from "../../../lib/xds/names.ts";
import { requestFor, testWrapper } from "../../ca/requests.ts";
import { worldOf } from "../../snapshot/worlds.ts";
import { nodeOf, testFront } from "../fixtures.ts";

const issuer = "https://kubernetes.default.svc.cluster.local";
const serverName = "istiod.istio-system.svc";
const subject = "system:serviceaccount:default:web";

let signing: CryptoKey;
let other: CryptoKey;
let authority: Authority;
let grpc: RunningServer;
let http: RunningServer;
let csr: string;
let closeFront = () => {};
const records: CertificateRecord[] = [];
const refusals: object[] = [];

beforeAll(async () => {
  const pair = await generateKeyPair("ES256");
  signing = pair.privateKey;
  other = (await generateKeyPair("ES256")).privateKey;
  csr = (await requestFor()).csr;
  const stored = authorityStore(memoryStore(), testWrapper());
  authority = {
    version: 1,
    trustDomain: "cluster.local",
    active: await makeSigner("cluster.local", Date.now()),
    next: await makeSigner("cluster.local", Date.now()),
  };
  await stored.write(authority, undefined);
  const ca = certificateAuthority({ stored, now: Date.now, onError: (cause) => expect.unreachable(String(cause)) });
  const setting = {
    issuers: [
      {
        issuer,
        audience: ["istio-ca", "portolan"],
        jwks: { keys: [{ ...(await exportJWK(pair.publicKey)), alg: "ES256" }] },
        clusterId: "Kubernetes",
      },
    ],
    subjects: { "system:serviceaccount:monitoring:prometheus": { scope: "operator" } },
  };
  const test = testFront({
    authority: ca,
    authentication: readAuthentication(JSON.stringify(setting)),
    onCertificate: (record) => records.push(record),
    onCertificateRefused: (refusal) => refusals.push(refusal),
  });
  await test.publish(worldOf({ web: {} }));
  const certificate = await keepCertificate(authorityCertificate(ca, [serverName]), (cause) =>
    expect.unreachable(String(cause)),
  );
  grpc = await serveGrpc(test.front, 0, "127.0.0.1", certificate);
  const app = frontApp(test.front);
  mountConnect(app, test.front);
  http = await serveHttp(app, 0);
  closeFront = test.front.close;
});
afterAll(async () => {
  closeFront();
  await Promise.all([grpc.close(), http.close()]);
});

/** What an agent of Istio trusts. */
const roots = () => authority.active.certificate;
const overGrpc = (ca: string = roots(), servername: string = serverName) =>
  createGrpcTransport({ baseUrl: grpc.url, nodeOptions: { ca, servername } });

interface Claims {
  readonly sub?: unknown;
  readonly aud?: unknown;
  readonly iss?: string;
  readonly iat?: number;
  readonly exp?: number | undefined;
  readonly nbf?: number;
}

const nowSeconds = () => Math.floor(Date.now() / 1_000);
const claims = (changes: Claims = {}) => ({
  iss: issuer,
  sub: subject,
  aud: ["istio-ca"],
  iat: nowSeconds(),
  exp: nowSeconds() + 3_600,
  "kubernetes.io": { namespace: "default", pod: { name: "web" }, serviceaccount: { name: "web" } },
  ...changes,
});
const tokenOf = (changes: Claims = {}, key: CryptoKey = signing) =>
  new SignJWT(claims(changes) as Record<string, unknown>).setProtectedHeader({ alg: "ES256" }).sign(key);
const bearer = async (token: string | Promise<string>) => ({
  authorization: `Bearer ${await token}`,
  clusterid: "Kubernetes",
});

const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "ok",
    (cause: unknown) => Code[ConnectError.from(cause).code] ?? "",
  );

describe("CreateCertificate", () => {
  it.each([
    { protocol: "gRPC with TLS", transport: () => overGrpc() },
    { protocol: "gRPC-Web", transport: () => createGrpcWebTransport({ baseUrl: http.url, httpVersion: "1.1" }) },
    { protocol: "Connect", transport: () => createConnectTransport({ baseUrl: http.url, httpVersion: "1.1" }) },
  ])("gives a pod's token the certificate of its service account, over $protocol", async ({ transport }) => {
    const client = createClient(IstioCertificateService, transport());
    const request = { csr, validityDuration: 3_600n, metadata: { CertSigner: "" } };
    const { certChain } = await client.createCertificate(request, { headers: await bearer(tokenOf()) });
    const [leaf = "", last, ...more] = certChain;
    expect(new X509Certificate(leaf).subjectAltName).toBe("URI:spiffe://cluster.local/ns/default/sa/web");
    expect(new X509Certificate(leaf).verify(new X509Certificate(roots()).publicKey)).toBe(true);
    expect(last).toBe(authority.active.certificate + authority.next?.certificate);
    expect(more).toEqual([]);
    expect(records.at(-1)).toMatchObject({
      identity: "spiffe://cluster.local/ns/default/sa/web",
      pod: "web",
      clusterId: "Kubernetes",
      serial: new X509Certificate(leaf).serialNumber.toLowerCase(),
    });
  });

  const [header = "", , signature = ""] = "a.b.c".split(".");
  const forms: readonly (readonly [string, () => Promise<string | undefined>])[] = [
    ["no token", async () => undefined],
    ["an empty token", async () => ""],
    ["no JWT", async () => "secret"],
    ["two parts", async () => (await tokenOf()).split(".").slice(0, 2).join(".")],
    ["four parts", async () => `${await tokenOf()}.${signature}`],
    ["no signature", async () => new UnsecuredJWT(claims() as Record<string, unknown>).encode()],
    ["an empty signature", async () => `${(await tokenOf()).split(".").slice(0, 2).join(".")}.`],
    ["another key's signature", () => tokenOf({}, other)],
    [
      "another payload",
      async () => swapPayload(await tokenOf(), await tokenOf({ sub: "system:serviceaccount:a:b" }, other)),
    ],
    ["another header", async () => [header, ...(await tokenOf()).split(".").slice(1)].join(".")],
    ["HMAC with the issuer's name", () => hmacToken(issuer)],
    ["another issuer", () => tokenOf({ iss: "https://evil.example" })],
    ["no issuer", () => tokenOf({ iss: "" })],
    ["another audience", () => tokenOf({ aud: ["vault"] })],
    ["the API server's audience", () => tokenOf({ aud: [issuer] })],
    ["no audience", () => tokenOf({ aud: undefined })],
    ["a time that is over", () => tokenOf({ exp: nowSeconds() - 120 })],
    ["no end", () => tokenOf({ exp: undefined })],
    ["a time to come", () => tokenOf({ nbf: nowSeconds() + 600 })],
    ["no subject", () => tokenOf({ sub: undefined })],
    ["a list of subjects", () => tokenOf({ sub: [subject] })],
    ["a user", () => tokenOf({ sub: "admin" })],
    ["a node", () => tokenOf({ sub: "system:node:worker-1" })],
    ["an account without a namespace", () => tokenOf({ sub: "system:serviceaccount::web" })],
    ["a namespace without an account", () => tokenOf({ sub: "system:serviceaccount:default:" })],
    ["more parts than an account has", () => tokenOf({ sub: `${subject}:admin` })],
    ["text before an account", () => tokenOf({ sub: `x${subject}` })],
  ];
  it.each(forms)("is refused for %s", async (_form, token) => {
    const before = records.length;
    const client = createClient(IstioCertificateService, overGrpc());
    const text = await token();
    const headers: Record<string, string> = text === undefined ? {} : await bearer(text);
    expect(await codeOf(client.createCertificate({ csr }, { headers }))).toBe("Unauthenticated");
    expect(records.length).toBe(before);
  });

  it.each([
    ["system:serviceaccount:default:web/../admin", "InvalidArgument"],
    ["system:serviceaccount:de fault:web", "InvalidArgument"],
    ["system:serviceaccount:default:web,URI=spiffe", "InvalidArgument"],
    ["system:serviceaccount:default/sa/admin:web", "InvalidArgument"],
    ["system:serviceaccount:monitoring:prometheus", "PermissionDenied"],
  ])("gives %s no certificate, though its token is good", async (sub, code) => {
    const before = records.length;
    const client = createClient(IstioCertificateService, overGrpc());
    expect(await codeOf(client.createCertificate({ csr }, { headers: await bearer(tokenOf({ sub })) }))).toBe(code);
    expect(records.length).toBe(before);
  });

  it("refuses metadata that would choose another identity, and signs with its own key whatever signer is named", async () => {
    const client = createClient(IstioCertificateService, overGrpc());
    const asked = async (metadata: Record<string, string>) => {
      const call = client.createCertificate({ csr, metadata }, { headers: await bearer(tokenOf()) });
      return call.then(
        () => "ok",
        (cause: unknown) => String(cause),
      );
    };
    expect(await asked({ CertSigner: "vault" })).toBe("ok");
    expect(records.at(-1)).toMatchObject({ certSigner: "vault" });
    expect(await asked({ CertSigner: "x".repeat(1_000) })).toBe("ok");
    expect(records.at(-1)?.certSigner?.length).toBeLessThan(200);
    expect(await asked({ ImpersonatedIdentity: "spiffe://cluster.local/ns/a/sa/b" })).toContain("ImpersonatedIdentity");
    expect(await asked({ WorkloadName: "web" })).toBe("ok");
  });

  it("says what is wrong with a request, and tells the log", async () => {
    const client = createClient(IstioCertificateService, overGrpc());
    const call = client.createCertificate({ csr: "none" }, { headers: await bearer(tokenOf()) });
    await expect(call).rejects.toThrow("csr is not one CERTIFICATE REQUEST in PEM");
    expect(refusals.at(-1)).toMatchObject({ namespace: "default", serviceAccount: "web", pod: "web" });
    const large = client.createCertificate({ csr: "x".repeat(70_000) }, { headers: await bearer(tokenOf()) });
    expect(await codeOf(large)).toBe("ResourceExhausted");
  });

  it("is no method where there is no CA", async () => {
    const test = testFront();
    const server = await serveGrpc(test.front, 0);
    const client = createClient(IstioCertificateService, createGrpcTransport({ baseUrl: server.url }));
    expect(await codeOf(client.createCertificate({ csr }))).toBe("Unimplemented");
    test.front.close();
    await server.close();
  });

  it("is refused to callers who prove nothing, where authentication is off", async () => {
    const never = (): never => expect.unreachable("the CA is not asked");
    const test = testFront({ authority: { create: never, roots: never, issuers: never, serverCertificate: never } });
    const server = await serveGrpc(test.front, 0);
    const client = createClient(IstioCertificateService, createGrpcTransport({ baseUrl: server.url }));
    expect(await codeOf(client.createCertificate({ csr }))).toBe("Unauthenticated");
    test.front.close();
    await server.close();
  });
});

function swapPayload(token: string, another: string): string {
  const [head, , mark] = token.split(".");
  return [head, another.split(".")[1], mark].join(".");
}

const hmacToken = (secret: string) =>
  new SignJWT(claims() as Record<string, unknown>)
    .setProtectedHeader({ alg: "HS256" })
    .sign(new TextEncoder().encode(secret.padEnd(32, "x")));

describe("TLS", () => {
  it("is refused by a client of another name, and by one that trusts another root", async () => {
    for (const transport of [overGrpc(roots(), "other.example"), overGrpc(authority.next?.certificate)]) {
      const client = createClient(IstioCertificateService, transport);
      expect(await codeOf(client.createCertificate({ csr }, { headers: await bearer(tokenOf()) }))).not.toBe("ok");
    }
  });
});

describe("a stream as Istio's agent opens it", () => {
  it.each(["whole", "delta"] as const)("has an empty table of names and the trust bundle at once, %s", async (kind) => {
    const client = createClient(AggregatedDiscoveryService, overGrpc());
    const closing = new AbortController();
    const [table, bundle] = [typeUrlOf("name_tables"), trustBundleUrl];
    const node = nodeOf("web");
    const asked = async function* () {
      yield { node: { ...node, metadata: { ...node.metadata, CLUSTER_ID: "Kubernetes" } }, typeUrl: bundle };
      yield { typeUrl: table };
      await new Promise((resolve) => closing.signal.addEventListener("abort", resolve));
    };
    const options = { signal: closing.signal, headers: await bearer(tokenOf()) };
    const answers =
      kind === "delta"
        ? client.deltaAggregatedResources(asked(), options)
        : client.streamAggregatedResources(asked(), options);
    const got = new Map<string, Uint8Array>();
    const found: string[] = [];
    for await (const { typeUrl, resources } of answers) {
      const [first] = resources;
      const isNamed = first !== undefined && "name" in first;
      if (isNamed) found.push(first.name);
      const value = first !== undefined && "value" in first ? first.value : isNamed ? first.resource?.value : undefined;
      got.set(typeUrl, value ?? new Uint8Array([255]));
      if (got.size === 2) break;
    }
    closing.abort();
    expect(fromBinary(NameTableSchema, got.get(table) ?? new Uint8Array([255])).table).toEqual({});
    const { caCertificatesPem } = fromBinary(ProxyConfigSchema, got.get(bundle) ?? new Uint8Array([255]));
    expect(caCertificatesPem).toEqual([authority.active.certificate, authority.next?.certificate]);
    expect(tableName).toBe(nameTableName);
    if (kind === "delta") expect(found.sort()).toEqual(["default", tableName].sort());
  });

  it("is told with gRPC's own status of a method that is not served", async () => {
    const lds = createClient(ListenerDiscoveryService, overGrpc());
    const options = { headers: await bearer(tokenOf()) };
    const stream = async () => {
      for await (const _answer of lds.streamListeners((async function* () {})(), options)) expect.unreachable();
    };
    expect(await codeOf(stream())).toBe("Unimplemented");
    const method = { ...SecretDiscoveryService.method.fetchSecrets, name: "Nothing", localName: "nothing" };
    const call = overGrpc().unary(method, undefined, undefined, options.headers, {});
    expect(await codeOf(call)).toBe("Unimplemented");
  });
});

describe("portolan's own agent", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "portolan-agent-ca-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const identityBy = async (token: string) => {
    const tokenFile = join(folder, "token");
    await writeFile(tokenFile, token);
    const client = createFrontClient({ url: http.url, tokenFile });
    return identityOfServer(client, await makeCertificateRequest(), 0).finally(() => client.close());
  };

  it("gets a certificate of the service account that its token proves, with a key of its own and all roots", async () => {
    const { certificate, key, roots: trusted } = await identityBy(await tokenOf());
    const leaf = new X509Certificate(certificate);
    expect(leaf.subjectAltName).toBe("URI:spiffe://cluster.local/ns/default/sa/web");
    expect(leaf.checkPrivateKey(createPrivateKey(key))).toBe(true);
    expect(leaf.verify(new X509Certificate(authority.active.certificate).publicKey)).toBe(true);
    for (const root of [authority.active, authority.next]) expect(trusted).toContain(root?.certificate.trim());
    const again = await identityBy(await tokenOf());
    expect(again.key).not.toBe(key);
  });

  it("keeps it as that of a command, and is told why it gets none", async () => {
    const secrets = new Map<string, object>();
    const take = (all: ReadonlyMap<string, object>) => {
      for (const [name, secret] of all) secrets.set(name, secret);
    };
    const ask = async () => identityBy(await tokenOf());
    const end = await keepIdentity({ source: { kind: "server", ask }, folder, say: () => {}, take });
    end();
    expect([...secrets.keys()]).toEqual(["default", "ROOTCA"]);
    await expect(identityBy(await tokenOf({}, other))).rejects.toThrow(/the server's CA answers 401: ./);
    const operator = tokenOf({ sub: "system:serviceaccount:monitoring:prometheus" });
    await expect(identityBy(await operator)).rejects.toThrow("answers 403: certificates are for workloads");
  });
});
