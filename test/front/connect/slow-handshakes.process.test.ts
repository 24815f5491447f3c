import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serveGrpc } from "../../../lib/front/connect/grpc-server.ts";
import { certificateFiles, keepCertificate } from "../../../lib/front/connect/server-certificate.ts";
import { createFront, type Front } from "../../../lib/front/front.ts";
import { type RunningServer, serveHttp } from "../../../lib/front/node-server.ts";
import { limits } from "../../../lib/limits/limits.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";

const folder = mkdtempSync(join(tmpdir(), "portolan-handshakes-"));
const [certificate, key] = [join(folder, "crt"), join(folder, "key")];
const few = { ...limits, connections: 8, handshakes: 4 };
let front: Front;
beforeAll(() => {
  const form = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=a"];
  execFileSync("openssl", ["req", "-x509", ...form, "-keyout", key, "-out", certificate], { stdio: "ignore" });
  front = createFront({ store: memoryStore(), limits: few });
});
afterAll(() => {
  front.close();
  rmSync(folder, { recursive: true });
});

const servers: readonly (readonly [string, () => Promise<RunningServer>])[] = [
  [
    "gRPC",
    async () => serveGrpc(front, 0, "127.0.0.1", await keepCertificate(certificateFiles(certificate, key), () => {})),
  ],
  [
    "webhooks",
    async () => {
      const { pair } = await certificateFiles(certificate, key).read();
      const options = { cert: pair.certificate, key: pair.key };
      const app = { fetch: () => new Response("here") };
      return serveHttp(app, 0, "127.0.0.1", few, undefined, undefined, { options, onServer: () => {} });
    },
  ],
];

/** Resolves when a handshake from this address is done. @throws where the server closes the connection before */
async function shake(port: number, localAddress: string) {
  const plain = connect({ host: "127.0.0.1", port, localAddress });
  const socket = connectTls({ socket: plain, rejectUnauthorized: false, ALPNProtocols: ["h2", "http/1.1"] });
  await once(socket, "secureConnect");
  return socket;
}

describe.each(servers)("handshakes that one address begins and does not end, on a port of %s", (_name, serve) => {
  it("are so many at most, and leave the other connections to others", async () => {
    const server = await serve();
    const port = Number(new URL(server.url).port);
    const slow: Socket[] = [];
    const closed: Socket[] = [];
    for (let i = 0; i < few.handshakes; i += 1) {
      const socket = connect({ host: "127.0.0.1", port, localAddress: "127.0.0.2" });
      socket.on("error", () => {}).on("close", () => closed.push(socket));
      slow.push(socket);
      await once(socket, "connect");
    }
    // The first bytes of a ClientHello, and no more.
    for (const socket of slow) socket.write(Buffer.from([22, 3, 1]));
    await expect(shake(port, "127.0.0.2")).rejects.toThrow();
    const others = [await shake(port, "127.0.0.3"), await shake(port, "127.0.0.3"), await shake(port, "127.0.0.3")];
    expect(closed).toEqual([]);
    // What was ended makes room.
    const [first] = slow;
    first?.destroy();
    const again = () => shake(port, "127.0.0.2").then((socket) => socket.destroy().destroyed);
    await expect.poll(again, { timeout: 20_000 }).toBe(true);
    for (const socket of [...slow, ...others]) socket.destroy();
    await server.close();
  });

  it("are not those that were ended: an address may have more connections than handshakes", async () => {
    const server = await serve();
    const port = Number(new URL(server.url).port);
    const done = [];
    for (let i = 0; i < few.connections; i += 1) done.push(await shake(port, "127.0.0.2"));
    // All connections are bounded as well.
    await expect(shake(port, "127.0.0.3")).rejects.toThrow();
    for (const socket of done) socket.destroy();
    await server.close();
  });
});
