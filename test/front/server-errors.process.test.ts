import { connect } from "node:http2";
import { Server } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { serveStatus } from "../../lib/agent/status/status-server.ts";
import { serveGrpc } from "../../lib/front/connect/grpc-server.ts";
import { noMetrics } from "../../lib/front/metrics.ts";
import { serveHttp } from "../../lib/front/node-server.ts";
import { limits } from "../../lib/limits/limits.ts";
import { testFront } from "./fixtures.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const end of ends.splice(0)) await end();
});

/** What Node emits for connections that cannot be accepted, on each server that began to listen; more than one, since the first may find a listener left. */
function failAccepting(servers: readonly unknown[]): void {
  for (const server of servers)
    for (let i = 0; i < 3; i += 1)
      if (server instanceof Server) server.emit("error", Object.assign(new Error("accept EMFILE"), { code: "EMFILE" }));
}

const app = { fetch: () => new Response("well") };

describe("a server that cannot accept a connection", () => {
  it("goes on over HTTP/1.1, and hears of each error", async () => {
    const listen = vi.spyOn(Server.prototype, "listen");
    const errors: unknown[] = [];
    const server = await serveHttp(app, 0, "127.0.0.1", limits, undefined, (cause) => errors.push(cause));
    ends.push(server.close);
    failAccepting(listen.mock.contexts);
    expect(errors.map(String)).toEqual(Array(3).fill("Error: accept EMFILE"));
    expect(await (await fetch(server.url)).text()).toBe("well");
  });

  it("goes on over gRPC; the front counts each error, and logs the first, second and fourth", async () => {
    const listen = vi.spyOn(Server.prototype, "listen");
    const logged: unknown[] = [];
    let counted = 0;
    const metrics = {
      ...noMetrics,
      serverError() {
        counted += 1;
      },
    };
    const { front } = testFront({ metrics, onError: (cause) => logged.push(cause) });
    const server = await serveGrpc(front, 0);
    ends.push(server.close);
    failAccepting(listen.mock.contexts);
    failAccepting(listen.mock.contexts);
    expect([counted, logged.length]).toEqual([6, 3]);
    const session = connect(server.url);
    ends.unshift(() => session.destroy());
    const status = await new Promise((resolve) => session.request({ ":path": "/none" }).once("response", resolve));
    expect(status).toMatchObject({ ":status": 404 });
  });

  it("goes on beside an Envoy, and counts each error among the agent's metrics", async () => {
    const listen = vi.spyOn(Server.prototype, "listen");
    const source = {
      missing: async () => undefined,
      metrics: (statusErrors: number) => `errors ${statusErrors}\n`,
      envoyMetrics: async () => undefined,
    };
    const server = await serveStatus({ port: 0, host: "127.0.0.1" }, source);
    ends.push(server.close);
    failAccepting(listen.mock.contexts);
    expect(await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text()).toBe("errors 3\n");
  });
});
