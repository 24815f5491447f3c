import { request } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { controlPlaneCluster } from "../../lib/agent/bootstrap.ts";
import { frontApp } from "../../lib/front/app.ts";
import { bootstrapHost, type HostGuardOptions, hostGuard } from "../../lib/front/host-guard.ts";
import { serveHttp } from "../../lib/front/node-server.ts";
import { worldOf } from "../snapshot/worlds.ts";
import { nodeOf, pollBody, testFront } from "./fixtures.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

interface Answer {
  readonly status: number | undefined;
  readonly text: string;
}

async function serving(more: Partial<HostGuardOptions> = {}) {
  const { front, publish } = testFront();
  await publish(worldOf({ web: { clusters: { a: "1" } } }));
  const guard = hostGuard({ servesAnyone: true, host: "127.0.0.1", hosts: [], ...more });
  const server = await serveHttp(frontApp(front), 0, "127.0.0.1", front.limits, guard);
  closing.push(server.close, front.close);
  const ask = (method: string, path: string, headers: Readonly<Record<string, string>>, body = "") =>
    new Promise<Answer>((resolve, reject) => {
      const sent = request(`${server.url}${path}`, { method, headers }, (response) => {
        let text = "";
        response.on("data", (data: Buffer) => {
          text += data.toString();
        });
        response.on("end", () => resolve({ status: response.statusCode, text }));
      });
      sent.on("error", reject);
      sent.end(body);
    });
  const poll = (headers: Readonly<Record<string, string>>) =>
    ask("POST", "/v3/discovery:clusters", headers, pollBody("clusters", nodeOf("web"), {}));
  return { ask, poll, port: new URL(server.url).port };
}

const json = { "content-type": "application/json" };

describe("a server on loopback that serves anyone", () => {
  it.each([
    "evil.test",
    "127.0.0.1.evil.test",
    "evil.test@127.0.0.1",
    "localhost.evil.test",
    "xn--e1awd7f.test",
    "[::2]",
  ])("tells a page that calls it %s nothing, over any path", async (host) => {
    const { ask, poll, port } = await serving();
    for (const path of ["/api/overview", "/v3/head", "/healthz", "/status/nodes", "/v1/registration", "/"]) {
      const { status, text } = await ask("GET", path, { host: `${host}:${port}` });
      expect([path, status]).toEqual([path, 421]);
      expect(text).toContain("PORTOLAN_HOSTS");
    }
    expect((await poll({ host: `${host}:${port}`, ...json })).status).toBe(421);
  });

  it.each([
    "127.0.0.1",
    "127.1.2.3",
    "localhost",
    "LOCALHOST",
    "shop.localhost",
    "[::1]",
    bootstrapHost,
    "front.internal",
  ])("answers requests for %s, with a port and without", async (host) => {
    const { ask, poll, port } = await serving({ hosts: ["front.internal"] });
    for (const name of [host, `${host}:${port}`]) {
      expect((await ask("GET", "/v3/head", { host: name })).status).toBe(200);
      expect((await poll({ host: name, ...json })).status).toBe(200);
    }
  });

  it.each([
    "text/plain",
    "text/plain;charset=UTF-8",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "",
  ])("takes no POST that a form could send, of content type %j", async (type) => {
    const { poll } = await serving();
    const { status, text } = await poll(type === "" ? {} : { "content-type": type });
    expect(status).toBe(415);
    expect(text).toContain("application/json");
  });

  it("is asked by generated bootstraps under the name of their cluster", () => {
    expect(bootstrapHost).toBe(controlPlaneCluster);
  });
});

describe("any other server", () => {
  it.each([{ servesAnyone: false }, { host: "0.0.0.0" }])(
    "answers whatever name it is called by: %j",
    async (options) => {
      const { ask, poll } = await serving(options);
      expect((await ask("GET", "/v3/head", { host: "front.example" })).status).toBe(200);
      expect((await poll({ host: "front.example" })).status).toBe(200);
    },
  );
});
