import { once } from "node:events";
import { connect } from "node:http2";
import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { blobKey, hashOf } from "../../../lib/base/blob.ts";
import { authenticateBy, identified } from "../../../lib/front/auth/authentication.ts";
import { serveGrpc } from "../../../lib/front/connect/grpc-server.ts";
import { teapotModule } from "../../e2e/wasm-module.ts";
import { testFront } from "../fixtures.ts";

const code = new Uint8Array([...teapotModule(), ...new Uint8Array(3_000_000)]);

/** Only who says the word is let in. */
const authentication = authenticateBy("test", [
  async ({ header }) =>
    header("authorization") === "Bearer good"
      ? identified({ kind: "node", subject: "web", namespace: "default" })
      : { kind: "refused", status: 401, reason: "no token" },
]);

describe("the port of streams", () => {
  it("gives modules over HTTP/2, to those who may have them", async () => {
    const { front, store } = testFront({ authentication });
    await store.put(blobKey(hashOf(code)), code);
    const server = await serveGrpc(front, 0);
    const session = connect(server.url);
    const get = async (digest: string, headers = {}) => {
      const stream = session.request({ ":path": `/v3/wasm/${digest}`, ...headers });
      const [answer] = await once(stream, "response");
      return { status: answer[":status"], bytes: await buffer(stream) };
    };
    try {
      const good = { authorization: "Bearer good" };
      const { status, bytes } = await get(hashOf(code), good);
      expect([status, hashOf(new Uint8Array(bytes))]).toEqual([200, hashOf(code)]);
      expect((await get(hashOf(code))).status).toBe(401);
      expect((await get("0".repeat(64), good)).status).toBe(404);
      expect((await get(hashOf(code), { ...good, range: "bytes=0-3" })).status).toBe(206);
    } finally {
      session.close();
      await server.close();
      front.close();
    }
  });
});
