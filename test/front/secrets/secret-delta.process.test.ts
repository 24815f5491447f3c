import { createRegistry, fromBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { SecretSchema } from "../../../gen/envoy/extensions/transport_sockets/tls/v3/secret_pb.ts";
import { SnapshotService } from "../../../gen/portolan/v1/snapshot_service_pb.ts";
import { frontApp } from "../../../lib/front/app.ts";
import { readAuthentication } from "../../../lib/front/auth/settings.ts";
import { serveGrpc } from "../../../lib/front/connect/grpc-server.ts";
import { mountConnect } from "../../../lib/front/connect/mount.ts";
import { binarySecrets } from "../../../lib/front/connect/secret-call.ts";
import { serveHttp } from "../../../lib/front/node-server.ts";
import { makeWrappingKey } from "../../../lib/secrets/environment-key.ts";
import { secretStore } from "../../../lib/secrets/secret-store.ts";
import { secretTypeUrl } from "../../../lib/secrets/tls-secret.ts";
import { wrappingKeys } from "../../../lib/secrets/wrapping-keys.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { clusterToken, type TestKey, testKey } from "../auth/keys.ts";
import { nodeOf, testFront } from "../fixtures.ts";
import { worldNaming } from "../naming-world.ts";

const shop = "kubernetes://shop";
const pay = "kubernetes://pay";
const pair = (key: string) => ({ values: { "tls.crt": btoa("certificate"), "tls.key": btoa(key) } });
const nowMs = Date.UTC(2026, 10, 1);

let key: TestKey;
beforeAll(async () => {
  key = await testKey("k1", "RS256");
});

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** A front whose nodes prove their service account, and secrets that are opened with one key; `again` is the same after a restart. */
async function guardedFront(shared?: { readonly store: ReturnType<typeof memoryStore>; readonly wrapping: string }) {
  const store = shared?.store ?? memoryStore();
  const wrapping = shared?.wrapping ?? makeWrappingKey();
  const secrets = secretStore(store, wrappingKeys(wrapping, "KEY"));
  const issuer = { issuer: "https://cluster.test", audience: "portolan", jwks: { keys: [key.publicJwk] } };
  const authentication = readAuthentication(JSON.stringify({ issuers: [issuer] }), { now: () => nowMs });
  const test = testFront({ store, authentication, secrets, maxHoldMs: 20_000 });
  ends.push(() => test.front.close());
  if (shared === undefined) {
    await test.publish(worldNaming(shop, pay, "kubernetes://other/shop", "kubernetes://gone"));
    await secrets.put({ namespace: "default", name: "shop" }, pair("s3cret"));
    await secrets.put({ namespace: "default", name: "pay" }, pair("paid"));
    await secrets.put({ namespace: "other", name: "shop" }, pair("theirs"));
    await secrets.put({ namespace: "default", name: "unnamed" }, pair("unnamed"));
  }
  return { ...test, secrets, again: () => guardedFront({ store, wrapping }) };
}

type Test = Awaited<ReturnType<typeof guardedFront>>;

const tokenOf = (subject = "system:serviceaccount:default:web", atMs = nowMs) => clusterToken(key, { subject, atMs });

interface Asked {
  readonly names?: readonly string[];
  readonly held?: string;
  readonly known?: Readonly<Record<string, string>>;
  readonly token?: string;
  readonly waitMs?: number;
  readonly node?: object;
}

/** Asks by both paths of JSON, which have to agree. */
async function ask(test: Test, { names = [], held, known, token, waitMs = 0, node = nodeOf("web") }: Asked) {
  const body = JSON.stringify({
    node,
    type_url: secretTypeUrl,
    resource_names_subscribe: names,
    response_nonce: held,
    initial_resource_versions: known,
  });
  const authorization = `Bearer ${token ?? (await tokenOf())}`;
  const call = (path: string, headers: Readonly<Record<string, string>>) =>
    test.request(path, {
      method: "POST",
      headers: { authorization, "content-type": "application/json", ...headers },
      body,
    });
  const [rest, connect] = await Promise.all([
    call("/v3/delta:secrets", { "x-envoy-expected-rq-timeout-ms": String(waitMs) }),
    call("/portolan.v1.SnapshotService/DeltaFetch", { "connect-timeout-ms": String(waitMs) }),
  ]);
  const texts = [await rest.text(), await connect.text()];
  if (rest.status === 200) expect(texts[1]).toBe(texts[0]);
  const delta: {
    readonly system_version_info?: string;
    readonly nonce?: string;
    readonly resources?: readonly { readonly name: string; readonly version: string }[];
    readonly removed_resources?: readonly string[];
  } = rest.status === 200 ? JSON.parse(texts[0] ?? "") : {};
  return {
    statuses: [rest.status, connect.status],
    text: texts.join(),
    caching: [rest, connect].map(({ headers }) => headers.get("cache-control")),
    delta,
    names: delta.resources?.map(({ name }) => name),
    known: Object.fromEntries(delta.resources?.map(({ name, version }) => [name, version]) ?? []),
  };
}

describe("secrets in delta requests", () => {
  it("come to a node that has proven who it is, for nobody on the way to keep, and then only those that change", async () => {
    const test = await guardedFront();
    const first = await ask(test, { names: [shop, pay] });
    expect([first.statuses, first.names, first.caching]).toEqual([
      [200, 200],
      [pay, shop],
      ["no-store", "no-store"],
    ]);
    expect(first.text).toContain(btoa("s3cret"));
    expect((await ask(test, { names: [shop, pay], held: first.delta.nonce ?? "" })).statuses).toEqual([304, 409]);
    const { secrets, known } = { ...test, ...first };
    await secrets.put({ namespace: "default", name: "pay" }, pair("rotated"));
    await expect
      .poll(async () => (await ask(test, { names: [shop, pay], known })).names, { timeout: 10_000 })
      .toEqual([pay]);
    const { text } = await ask(test, { names: [shop, pay], known });
    expect([text.includes(btoa("rotated")), text.includes(btoa("s3cret"))]).toEqual([true, false]);
  });

  it("are told to a waiting node as soon as they are other ones, and that they are gone", async () => {
    const test = await guardedFront();
    const { delta, known } = await ask(test, { names: [shop] });
    const waiting = ask(test, { names: [shop], known, held: delta.nonce ?? "", waitMs: 25_000 });
    await test.secrets.put({ namespace: "default", name: "shop" }, pair("rotated"));
    const changed = await waiting;
    expect([changed.names, changed.text.includes(btoa("rotated"))]).toEqual([[shop], true]);
    await test.secrets.delete({ namespace: "default", name: "shop" });
    const gone = () => ask(test, { names: [shop], known: changed.known });
    await expect.poll(async () => (await gone()).delta.removed_resources, { timeout: 10_000 }).toEqual([shop]);
  });

  it("are known again by the version after a restart of the front, without being sent again", async () => {
    const test = await guardedFront();
    const { delta, known } = await ask(test, { names: [shop, pay] });
    const { again } = test;
    const restarted = await again();
    expect((await ask(restarted, { names: [shop, pay], held: delta.nonce ?? "" })).statuses).toEqual([304, 409]);
    const listed = await ask(restarted, { names: [shop, pay], known });
    expect([listed.names, listed.text.includes("inline_bytes")]).toEqual([[], false]);
  });

  it.each([
    ["that none of its resources names", "kubernetes://unnamed", 404],
    ["of another namespace, though named", "kubernetes://other/shop", 403],
    ["that is not there", "kubernetes://gone", 404],
  ])("are kept from it: one %s", async (_what, name, status) => {
    const test = await guardedFront();
    const alone = await ask(test, { names: [name] });
    expect([alone.statuses, alone.text.includes("inline_bytes")]).toEqual([[status, status], false]);
    const among = await ask(test, { names: [name, shop] });
    expect([among.names, among.delta.removed_resources]).toEqual([[shop], [name]]);
  });

  it("are asked for by name", async () => {
    expect((await ask(await guardedFront(), {})).statuses).toEqual([400, 400]);
  });

  it("are kept from everybody else, whatever they say that they have", async () => {
    const test = await guardedFront();
    const { delta, known } = await ask(test, { names: [shop] });
    await test.secrets.put(
      { namespace: "default", name: "shop" },
      { ...pair("s3cret"), serviceAccounts: ["web", "gateway"] },
    );
    const attacks: readonly (readonly [string, Asked, number])[] = [
      ["an expired token", { token: await tokenOf(undefined, nowMs - 700_000) }, 401],
      ["a token of another key", { token: await clusterToken(await testKey("k1", "RS256"), { atMs: nowMs }) }, 401],
      ["no token", { token: "" }, 401],
      ["a node of another namespace", { token: await tokenOf("system:serviceaccount:other:web") }, 403],
      ["another service account", { token: await tokenOf("system:serviceaccount:default:pay") }, 403],
      ["a class that names none", { node: nodeOf("plain") }, 404],
    ];
    await expect
      .poll(async () => (await ask(test, { names: [shop], ...attacks[4]?.[1] })).statuses[0], { timeout: 10_000 })
      .toBe(403);
    for (const [who, asked, status] of attacks) {
      for (const told of [{}, { held: delta.nonce ?? "" }]) {
        const { statuses, text } = await ask(test, { names: [shop], ...told, ...asked });
        expect([who, statuses[0], /inline_bytes|c2VjcmV0|s3cret/.test(text)]).toEqual([who, status, false]);
      }
    }
    // Who lists a version learns no more than that it is not to have the secret.
    const listed = await ask(test, { names: [shop], known, ...attacks[4]?.[1] });
    expect([listed.names, listed.delta.removed_resources]).toEqual([[], [shop]]);
  });

  it("are given to no caller where nobody has to prove anything", async () => {
    const secrets = secretStore(memoryStore(), wrappingKeys(makeWrappingKey(), "KEY"));
    const test = testFront({ secrets });
    await test.publish(worldNaming(shop));
    await secrets.put({ namespace: "default", name: "shop" }, pair("s3cret"));
    const body = JSON.stringify({ node: nodeOf("web"), resource_names_subscribe: [shop] });
    expect((await test.request("/v3/delta:secrets", { method: "POST", body })).status).toBe(403);
  });
});

const transports: readonly (readonly [string, (urls: Readonly<Record<"http" | "grpc", string>>) => Transport])[] = [
  [
    "Connect in JSON",
    ({ http }) =>
      createConnectTransport({
        baseUrl: http,
        httpVersion: "1.1",
        jsonOptions: { registry: createRegistry(SecretSchema) },
      }),
  ],
  [
    "Connect in binary",
    ({ http }) => createConnectTransport({ baseUrl: http, httpVersion: "1.1", useBinaryFormat: true }),
  ],
  ["gRPC-Web", ({ http }) => createGrpcWebTransport({ baseUrl: http, httpVersion: "1.1" })],
  ["gRPC", ({ grpc }) => createGrpcTransport({ baseUrl: grpc })],
];

describe.each(transports)("DeltaFetch of secrets over %s", (_name, transportOf) => {
  it("gives the node its own, by version, and another none", async () => {
    const test = await guardedFront();
    const app = frontApp(test.front);
    mountConnect(app, test.front, binarySecrets);
    const [http, grpc] = [await serveHttp(app, 0), await serveGrpc(test.front, 0)];
    ends.unshift(http.close, grpc.close);
    const client = createClient(SnapshotService, transportOf({ http: http.url, grpc: grpc.url }));
    const { id, cluster } = nodeOf("web");
    const question = {
      node: { id, cluster, metadata: { NAMESPACE: "default" } },
      typeUrl: secretTypeUrl,
      resourceNamesSubscribe: [shop],
    };
    const call = async (more: object = {}, token?: string) =>
      client.deltaFetch(
        { ...question, ...more },
        { headers: { authorization: `Bearer ${token ?? (await tokenOf())}` } },
      );
    const codeOf = (calling: Promise<unknown>) =>
      calling.then(
        () => undefined,
        (cause: unknown) => ConnectError.from(cause).code,
      );
    const { resources, nonce } = await call();
    const secret = fromBinary(SecretSchema, resources[0]?.resource?.value ?? new Uint8Array());
    const { value: privateKey } =
      secret.type.case === "tlsCertificate" ? (secret.type.value.privateKey?.specifier ?? {}) : {};
    expect([secret.name, new TextDecoder().decode(privateKey instanceof Uint8Array ? privateKey : undefined)]).toEqual([
      shop,
      "s3cret",
    ]);
    expect(await codeOf(call({ responseNonce: nonce }))).toBe(Code.AlreadyExists);
    expect(await codeOf(call({}, await tokenOf("system:serviceaccount:other:web")))).toBe(Code.PermissionDenied);
    expect(await codeOf(call({}, await tokenOf(undefined, nowMs - 700_000)))).toBe(Code.Unauthenticated);
    expect(await codeOf(call({ resourceNamesSubscribe: [] }))).toBe(Code.InvalidArgument);
  });
});
