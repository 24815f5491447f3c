import { createRegistry, fromBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SecretSchema } from "../../../gen/envoy/extensions/transport_sockets/tls/v3/secret_pb.ts";
import { SecretDiscoveryService } from "../../../gen/envoy/service/secret/v3/sds_pb.ts";
import { authenticateBy, identified } from "../../../lib/front/auth/authentication.ts";
import type { Caller } from "../../../lib/front/auth/caller.ts";
import { binarySecrets } from "../../../lib/front/connect/secret-call.ts";
import { makeWrappingKey } from "../../../lib/secrets/environment-key.ts";
import { secretStore } from "../../../lib/secrets/secret-store.ts";
import { secretTypeUrl } from "../../../lib/secrets/tls-secret.ts";
import { wrappingKeys } from "../../../lib/secrets/wrapping-keys.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { nodeOf, testFront } from "../fixtures.ts";
import { worldNaming } from "../naming-world.ts";
import { protocols, serveProtocols } from "./protocols.ts";

let served: Awaited<ReturnType<typeof serveProtocols>>;
let caller: Caller = { kind: "anyone" };
const web: Caller = { kind: "node", subject: "web", namespace: "default", serviceAccount: "web" };

beforeAll(async () => {
  const store = memoryStore();
  const secrets = secretStore(store, wrappingKeys(makeWrappingKey(), "KEY"));
  const authentication = authenticateBy("test", [async () => identified(caller)]);
  const { front, publish } = testFront({ store, secrets, authentication });
  await publish(worldNaming("kubernetes://shop", "kubernetes://other/shop"));
  await secrets.put(
    { namespace: "default", name: "shop" },
    { values: { "tls.crt": btoa("cert"), "tls.key": btoa("s3cret") } },
  );
  await secrets.put(
    { namespace: "other", name: "shop" },
    { values: { "tls.crt": btoa("cert"), "tls.key": btoa("theirs") } },
  );
  served = await serveProtocols(front, createRegistry(SecretSchema), binarySecrets);
});

afterAll(() => served.close());

describe.each(protocols)("FetchSecrets over %s", (name) => {
  const fetchSecret = (resourceNames: readonly string[], versionInfo = "") => {
    const { id, cluster, metadata } = nodeOf("web");
    const { NAMESPACE } = metadata;
    const node = { id, cluster, metadata: { NAMESPACE } };
    const question = { node, resourceNames: [...resourceNames], versionInfo, typeUrl: secretTypeUrl };
    return createClient(SecretDiscoveryService, served.transports[name]).fetchSecrets(question);
  };
  const codeOf = (call: Promise<unknown>) =>
    call.then(
      () => undefined,
      (cause: unknown) => ConnectError.from(cause).code,
    );

  it("gives a node that has proven who it is the secret that its class names, and no other", async () => {
    caller = web;
    const { resources, versionInfo } = await fetchSecret(["kubernetes://shop"]);
    const [{ value } = { value: new Uint8Array() }] = resources;
    const secret = fromBinary(SecretSchema, value);
    const { value: key } = secret.type.case === "tlsCertificate" ? (secret.type.value.privateKey?.specifier ?? {}) : {};
    expect([secret.name, new TextDecoder().decode(key instanceof Uint8Array ? key : undefined)]).toEqual([
      "kubernetes://shop",
      "s3cret",
    ]);
    expect(await codeOf(fetchSecret(["kubernetes://shop"], versionInfo))).toBe(Code.AlreadyExists);
    expect(await codeOf(fetchSecret(["kubernetes://other/shop"]))).toBe(Code.PermissionDenied);
    expect(await codeOf(fetchSecret(["kubernetes://unnamed"]))).toBe(Code.NotFound);
    expect(await codeOf(fetchSecret([]))).toBe(Code.InvalidArgument);
    expect(await codeOf(fetchSecret(["kubernetes://shop", "kubernetes://other/shop"]))).toBe(Code.InvalidArgument);
  });

  it.each<Caller>([{ kind: "anyone" }, { kind: "operator", subject: "o" }])("gives none to $kind", async (other) => {
    caller = other;
    expect(await codeOf(fetchSecret(["kubernetes://shop"]))).toBe(Code.PermissionDenied);
  });
});
