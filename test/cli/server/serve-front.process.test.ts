import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { connect } from "node:tls";
import pino from "pino";
import { afterAll, describe, expect, it, vi } from "vitest";
import { serveFront } from "../../../lib/cli/server/serve-front.ts";
import { settingsFromEnvironment } from "../../../lib/cli/server/serve-settings.ts";
import { makeWrappingKey } from "../../../lib/secrets/environment-key.ts";
import { runPortolan } from "../run-portolan.ts";

const folder = mkdtempSync(join(tmpdir(), "portolan-front-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** What a front logs while it starts. */
async function logged(isEnding: boolean): Promise<readonly unknown[]> {
  const said: unknown[] = [];
  const stream = new Writable({
    write(line, _encoding, done) {
      said.push(JSON.parse(String(line)).msg);
      done();
    },
  });
  const settings = settingsFromEnvironment({ PORT: "0", PORTOLAN_WORKERS: "1", PORTOLAN_STORE: join(folder, "store") });
  const front = await serveFront(settings, pino(stream), () => isEnding);
  await front.close();
  return said;
}

describe("serveFront", () => {
  it("says that it serves, and not where it is told to end while it starts", async () => {
    expect(await logged(false)).toContain("serving");
    expect(await logged(true)).not.toContain("serving");
  });

  it("listens with TLS, with a certificate of the CA in the store for istiod's names", async () => {
    const store = join(folder, "ca-store");
    const key = makeWrappingKey();
    vi.stubEnv("PORTOLAN_SECRETS_KEY", key);
    expect((await runPortolan("ca", "init", "--store", store)).code).toBe(0);
    const ca = (await runPortolan("ca", "roots", "--store", store)).out;
    vi.unstubAllEnvs();
    const settings = settingsFromEnvironment({
      PORT: "0",
      PORTOLAN_TLS_PORT: "0",
      PORTOLAN_CA: "on",
      PORTOLAN_WORKERS: "1",
      PORTOLAN_STORE: store,
      PORTOLAN_SECRETS_KEY: key,
    });
    const front = await serveFront(settings, pino({ level: "silent" }));
    const { protocol, port } = new URL(front.urls[1] ?? "");
    const subject = await new Promise((resolve, reject) => {
      const socket = connect({ port: Number(port), ca, servername: "istiod.istio-system.svc", ALPNProtocols: ["h2"] });
      socket.once("secureConnect", () => {
        resolve([socket.alpnProtocol, socket.authorized]);
        socket.destroy();
      });
      socket.once("error", reject);
    });
    expect([protocol, subject]).toEqual(["https:", ["h2", true]]);
    await front.close();
  });

  it.each([
    [{ PORTOLAN_TLS_PORT: "0" }, "PORTOLAN_TLS_PORT has no certificate"],
    [{ PORTOLAN_TLS_PORT: "0", PORTOLAN_TLS_KEY: "key.pem" }, "must be set together"],
    [{ PORTOLAN_CA: "on" }, "PORTOLAN_CA needs PORTOLAN_SECRETS_KEY"],
    [
      { PORTOLAN_TLS_PORT: "0", PORTOLAN_CA: "on", PORTOLAN_SECRETS_KEY: makeWrappingKey() },
      "the store holds no CA: `portolan ca init` makes one",
    ],
  ])("refuses %j", async (env, reason) => {
    const store = join(folder, "store");
    const settings = settingsFromEnvironment({ PORT: "0", PORTOLAN_WORKERS: "1", PORTOLAN_STORE: store, ...env });
    await expect(serveFront(settings, pino({ level: "silent" }))).rejects.toThrow(reason);
  });
});
