import { afterEach, describe, expect, it } from "vitest";
import { authenticateBy, identified } from "../../../lib/front/auth/authentication.ts";
import type { NodeCaller } from "../../../lib/front/auth/caller.ts";
import { serveGrpc } from "../../../lib/front/connect/grpc-server.ts";
import { makeWrappingKey } from "../../../lib/secrets/environment-key.ts";
import { secretStore } from "../../../lib/secrets/secret-store.ts";
import { wrappingKeys } from "../../../lib/secrets/wrapping-keys.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { testFront } from "../fixtures.ts";
import { worldNaming } from "../naming-world.ts";
import { openStream, type TestStream } from "./streams.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const pair = (key: string) => ({ values: { "tls.crt": btoa("certificate"), "tls.key": btoa(key) } });
const web: NodeCaller = { kind: "node", subject: "web", namespace: "default", serviceAccount: "web" };
const [shop, other, gone] = ["kubernetes://shop", "kubernetes://other/shop", "kubernetes://gone"];

async function serving(caller: NodeCaller | "anyone" = web) {
  const store = memoryStore();
  const secrets = secretStore(store, wrappingKeys(makeWrappingKey(), "KEY"));
  const authentication =
    caller === "anyone" ? {} : { authentication: authenticateBy("test", [async () => identified(caller)]) };
  const test = testFront({ store, secrets, ...authentication });
  await test.publish(worldNaming(shop, other, gone));
  await secrets.put({ namespace: "default", name: "shop" }, pair("s3cret"));
  await secrets.put({ namespace: "default", name: "unnamed" }, pair("unnamed"));
  await secrets.put({ namespace: "other", name: "shop" }, pair("another's"));
  const server = await serveGrpc(test.front, 0);
  closing.push(server.close, test.front.close);
  const open = (kind: "sotw" | "delta"): TestStream => {
    const on = openStream(server.url, kind);
    closing.push(on.close);
    return on;
  };
  return { ...test, secrets, open };
}

describe.each(["sotw", "delta"] as const)("secrets on a stream, %s", (kind) => {
  it("reach the node that has proven its namespace and whose listeners name them, and follow what is stored", async () => {
    const { open, secrets } = await serving();
    const on = open(kind);
    on.ask({ type: "secrets", names: [shop] });
    const { type, nonce, resources } = await on.next();
    expect(type).toBe("secrets");
    expect(resources.join()).toContain("s3cret");
    on.ask({ type: "secrets", names: kind === "delta" ? [] : [shop], nonce });
    expect(await on.isQuiet()).toBe(true);
    await secrets.put({ namespace: "default", name: "shop" }, pair("rotated"));
    expect((await on.next()).resources.join()).toContain("rotated");
  }, 15_000);

  it("are answered where there are none, or none for this reader, so that nobody waits", async () => {
    const { open, secrets } = await serving();
    const on = open(kind);
    on.ask({ type: "secrets", names: [gone, other, "kubernetes://unnamed", "default"] });
    const { nonce, resources } = await on.next();
    const missing = ["default", gone, other, "kubernetes://unnamed"].toSorted().map((name) => `-${name}`);
    expect(resources).toEqual(kind === "delta" ? missing : []);
    on.ask({ type: "secrets", names: kind === "delta" ? [] : [gone, other], nonce });
    expect(await on.isQuiet()).toBe(true);
    await secrets.put({ namespace: "default", name: "gone" }, pair("come"));
    expect((await on.next()).resources.join()).toContain("come");
  }, 15_000);

  it("are for nobody who has proven nothing", async () => {
    const { open } = await serving("anyone");
    const on = open(kind);
    on.ask({ type: "secrets", names: [shop] });
    expect((await on.next()).resources.join()).not.toContain("s3cret");
  });

  it("come beside the other types of the stream", async () => {
    const { open } = await serving();
    const on = open(kind);
    on.ask({ type: "secrets", names: [shop] });
    expect((await on.next()).type).toBe("secrets");
    on.ask({ type: "routes", names: ["none"] });
    expect((await on.next()).type).toBe("routes");
  });
});

describe("a delta stream that comes back with the versions of its secrets", () => {
  it("is told nothing anew", async () => {
    const { open } = await serving();
    const first = open("delta");
    first.ask({ type: "secrets", names: [shop] });
    const { versions } = await first.next();
    const again = open("delta");
    again.ask({ type: "secrets", names: [shop], known: versions });
    expect(await again.isQuiet()).toBe(true);
  });
});
