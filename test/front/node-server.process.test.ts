import { Agent, request } from "node:http";
import { describe, expect, it } from "vitest";
import { frontApp } from "../../lib/front/app.ts";
import { serveHttp } from "../../lib/front/node-server.ts";
import { limits } from "../../lib/limits/limits.ts";
import { worldOf } from "../snapshot/worlds.ts";
import { nodeOf, pollBody, testFront } from "./fixtures.ts";

interface Answer {
  readonly status: number | undefined;
  readonly connection: string | undefined;
  readonly body: string;
}

/** A poll on a connection that is kept, as Envoy's are. */
function poll(url: string, agent: Agent, version: string): Promise<Answer> {
  const body = pollBody("clusters", nodeOf("web"), { version });
  return new Promise((resolve, reject) => {
    const headers = { "x-envoy-expected-rq-timeout-ms": "30000" };
    const sent = request(`${url}/v3/discovery:clusters`, { method: "POST", agent, headers }, (response) => {
      let text = "";
      response.on("data", (data) => {
        text += data;
      });
      response.on("end", () =>
        resolve({ status: response.statusCode, connection: response.headers.connection, body: text }),
      );
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

describe("a server that is closed", () => {
  it("lets every held poll go with an answer, says that it was the last, and is gone at once", async () => {
    const { front, publish } = testFront({ maxHoldMs: 25_000 });
    await publish(worldOf({ web: { clusters: { a: "1" } } }));
    const server = await serveHttp(frontApp(front), 0, "127.0.0.1", limits);
    const agents = Array.from({ length: 20 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    const first = await Promise.all(agents.map((agent) => poll(server.url, agent, "")));
    expect(first.map(({ status }) => status)).toEqual(agents.map(() => 200));
    const version: string = JSON.parse(first[0]?.body ?? "").version_info;

    const held = agents.map((agent) => poll(server.url, agent, version));
    await new Promise((resolve) => setTimeout(resolve, 200));
    const startMs = performance.now();
    front.close();
    await server.close();
    expect(performance.now() - startMs).toBeLessThan(2_000);
    const answers = await Promise.allSettled(held);
    expect(answers).toEqual(
      agents.map(() => ({ status: "fulfilled", value: { status: 304, connection: "close", body: "" } })),
    );
    for (const agent of agents) agent.destroy();
  });
});
