import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { agentMetrics } from "../../lib/agent/status/agent-metrics.ts";
import {
  type StatusServer,
  type StatusSource,
  serveStatus,
  statusLimits,
} from "../../lib/agent/status/status-server.ts";

let server: StatusServer | undefined;
afterEach(() => server?.close());

const kilobyte = Buffer.alloc(1_024, "a\n");

async function* pieces(count: number, pauseMs = 0) {
  for (let i = 0; i < count; i += 1) {
    await sleep(pauseMs);
    yield kilobyte;
  }
}

const quiet: StatusSource = {
  missing: async () => undefined,
  metrics: () => "own 1\n",
  envoyMetrics: async () => pieces(1),
};

async function serve(source: Partial<StatusSource>, limits: Partial<typeof statusLimits> | object = {}) {
  server = await serveStatus({ port: 0, host: "127.0.0.1" }, { ...quiet, ...source }, { ...statusLimits, ...limits });
  const url = `http://127.0.0.1:${server.port}`;
  const ask = (path: string, init: RequestInit = {}) => fetch(url + path, init);
  return { port: server.port, ask };
}

describe("an agent's status", () => {
  it("is ready when nothing is missing, and says what is", async () => {
    let missing: string | undefined = "Envoy has taken no clusters yet";
    const { ask } = await serve({ missing: async () => missing });
    const before = await ask("/healthz/ready");
    expect([before.status, await before.text()]).toEqual([503, "Envoy has taken no clusters yet\n"]);
    missing = undefined;
    expect((await ask("/healthz/ready?from=kubelet")).status).toBe(200);
  });

  it.each(["/metrics", "/stats/prometheus"])("has its own metrics at %s, and Envoy's behind them", async (path) => {
    const { ask } = await serve({});
    expect(await (await ask(path)).text()).toBe(`own 1\n${kilobyte}`);
  });

  it("has its own metrics also while no Envoy answers", async () => {
    const { ask } = await serve({ envoyMetrics: async () => undefined });
    expect(await (await ask("/metrics")).text()).toBe("own 1\n");
  });

  it("ends the connection of a scrape that is too much, too slow or breaks off: half an answer is none", async () => {
    const tooMuch = await serve({ envoyMetrics: async () => pieces(20) }, { scrapeBytes: 10 * 1_024 });
    await expect(tooMuch.ask("/metrics").then((response) => response.text())).rejects.toThrow();
    server?.close();
    const tooSlow = await serve({ envoyMetrics: async () => pieces(100, 20) }, { scrapeMs: 100 });
    await expect(tooSlow.ask("/metrics").then((response) => response.text())).rejects.toThrow();
    server?.close();
    const broken = async function* () {
      yield kilobyte;
      throw new Error("gone");
    };
    const breaksOff = await serve({ envoyMetrics: async () => broken() });
    await expect(breaksOff.ask("/metrics").then((response) => response.text())).rejects.toThrow();
  });

  it("lets a few scrape at a time, and the next when one has ended, also one who reads nothing", async () => {
    let count = 100_000;
    const { ask, port } = await serve({ envoyMetrics: async () => pieces(count) }, { scrapes: 1, scrapeMs: 300 });
    const silent = connect(port, "127.0.0.1").pause();
    silent.write("GET /metrics HTTP/1.1\r\nhost: a\r\n\r\n");
    await sleep(100);
    const busy = await ask("/metrics");
    expect([busy.status, await busy.text()]).toEqual([503, "1 others read the metrics now\n"]);
    await sleep(500);
    count = 1;
    expect((await ask("/metrics")).status).toBe(200);
    silent.destroy();
  });

  it("answers nothing else", async () => {
    const { ask } = await serve({});
    expect((await ask("/quitquitquit")).status).toBe(404);
    expect((await ask("/healthz/ready", { method: "POST", body: "x" })).status).toBe(405);
  });

  it("says which port it cannot have", async () => {
    const { port } = await serve({});
    await expect(serveStatus({ port, host: "127.0.0.1" }, quiet)).rejects.toThrow(
      `cannot listen on port ${port} for the agent's status`,
    );
  });
});

describe("an agent's metrics", () => {
  it("count what Envoy refuses by type, and have help and type each", () => {
    const refused = [{ type: "routes", name: "80", words: "no" }] as const;
    const text = agentMetrics(
      { pid: 1, refused, changes: 3, starts: 1 },
      { residentBytes: 5, cpuSeconds: 0.5 },
      {
        dns: 2,
        status: 0,
        xds: 1,
      },
    );
    expect(text).toContain('portolan_agent_socket_errors_total{server="dns"} 2\n');
    expect(text).toContain('portolan_agent_socket_errors_total{server="xds"} 1\n');
    expect(text).toContain('portolan_agent_refused_resources{type="routes"} 1\n');
    expect(text).toContain('portolan_agent_refused_resources{type="clusters"} 0\n');
    expect(text).toContain("# TYPE portolan_agent_changes_total counter\nportolan_agent_changes_total 3\n");
    expect(text.match(/^# HELP/gm)?.length).toBe(text.match(/^# TYPE/gm)?.length);
    expect(text.endsWith("\n")).toBe(true);
  });
});
