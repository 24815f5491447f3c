import { createServer, type RequestListener, type Server } from "node:http";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { readAuthentication } from "../../../lib/front/auth/settings.ts";
import { clusterToken, nowMs, type TestKey, testKey } from "./keys.ts";

const servers: Server[] = [];
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
});

/** Paths that were asked for. */
interface Counted {
  readonly url: string;
  readonly asked: readonly string[];
}

async function serve(answer: RequestListener, host = "127.0.0.1"): Promise<Counted> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    answer(request, response);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  return { url: `http://${host}:${typeof address === "object" ? address?.port : ""}`, asked };
}

const authenticationBy = (jwksUri: string, now = () => nowMs) =>
  readAuthentication(JSON.stringify({ issuers: [{ issuer: "https://cluster.test", audience: "portolan", jwksUri }] }), {
    now,
  });

describe("the keys of an issuer, over HTTP", () => {
  let key: TestKey;
  let keys: string;
  beforeAll(async () => {
    key = await testKey("k1", "ES256");
    keys = JSON.stringify({ keys: [key.publicJwk] });
  });

  async function identify(authentication: ReturnType<typeof authenticationBy>, atMs = nowMs) {
    const token = await clusterToken(key, { atMs });
    return authentication.identify({ header: (name) => (name === "authorization" ? `Bearer ${token}` : undefined) });
  }

  it("are read from the address that is named", async () => {
    const issuer = await serve((_request, response) => response.end(keys));
    expect(await identify(authenticationBy(`${issuer.url}/keys`))).toMatchObject({ kind: "identified" });
    expect(issuer.asked).toEqual(["/keys"]);
  });

  it.each([301, 302, 303, 307, 308])("are not read from where a redirect leads: %i", async (status) => {
    // Another name of the loopback, which no jwksUri may have in clear text.
    const elsewhere = await serve((_request, response) => response.end(keys), "127.0.0.2");
    const issuer = await serve((_request, response) =>
      response.writeHead(status, { location: `${elsewhere.url}/keys` }).end(),
    );
    expect(() => authenticationBy(`${elsewhere.url}/keys`)).toThrow("no https URL");
    expect(await identify(authenticationBy(`${issuer.url}/keys`))).toMatchObject({ kind: "refused", status: 503 });
    expect(elsewhere.asked).toEqual([]);
  });

  it("are not read beyond their bound", async () => {
    let sent = 0;
    const issuer = await serve((_request, response) => {
      const more = (): void => {
        if (response.destroyed) return;
        sent += 65_536;
        response.write(" ".repeat(65_536), more);
      };
      more();
    });
    expect(await identify(authenticationBy(`${issuer.url}/keys`))).toMatchObject({ kind: "refused", status: 503 });
    // What lies in buffers between the two of them besides.
    expect(sent).toBeLessThan(32 * 1024 * 1024);
  });

  it("are read again when the clock was set back by a day: a new key counts at once", async () => {
    const next = await testKey("k2", "ES256");
    const answers = [keys, JSON.stringify({ keys: [key.publicJwk, next.publicJwk] })];
    const issuer = await serve((_request, response) => response.end(answers.shift() ?? ""));
    vi.useFakeTimers({ toFake: ["Date"], now: nowMs });
    const authentication = authenticationBy(`${issuer.url}/keys`, Date.now);
    expect(await identify(authentication)).toMatchObject({ kind: "identified" });
    const dayBeforeMs = nowMs - 86_400_000;
    vi.setSystemTime(dayBeforeMs);
    const token = await clusterToken(next, { atMs: dayBeforeMs });
    const header = (name: string) => (name === "authorization" ? `Bearer ${token}` : undefined);
    expect(await authentication.identify({ header })).toMatchObject({ kind: "identified" });
    expect(issuer.asked).toHaveLength(2);
  });

  it("of before go on being believed where the issuer sends something else", async () => {
    const answers = [keys, "<html>", '{"keys": 7}', "null", '{"keys": [1]}', '{"keys": [null]}'];
    const issuer = await serve((_request, response) => response.end(answers.shift() ?? ""));
    vi.useFakeTimers({ toFake: ["Date"], now: nowMs });
    const authentication = authenticationBy(`${issuer.url}/keys`, Date.now);
    for (let hours = 0; hours < 6; hours += 1) {
      vi.setSystemTime(nowMs + hours * 3_600_000);
      expect(await identify(authentication, Date.now())).toMatchObject({ kind: "identified" });
    }
    expect(issuer.asked).toHaveLength(6);
  });
});
