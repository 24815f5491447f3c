import type { IncomingMessage, ServerResponse } from "node:http";
import { causeText } from "../../base/cause-text.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { createHttpServer } from "../http.ts";
import { listening } from "../listening.ts";

/** Where an agent tells how it and its Envoy are. */
export interface StatusAddress {
  /** 0 takes any. */
  readonly port: number;
  /** All addresses of the machine where nothing is said. */
  readonly host?: string | undefined;
}

/** What is told. */
export interface StatusSource {
  /** @returns why no traffic can be taken; undefined when it can */
  missing(): Promise<string | undefined>;
  /** The agent's own metrics. @param statusErrors how many errors the sockets of the status server have had */
  metrics(statusErrors: number): string;
  /** Envoy's, as they come; undefined when it does not answer. */
  envoyMetrics(): Promise<AsyncIterable<Uint8Array> | undefined>;
}

export interface StatusServer {
  readonly port: number;
  close(): void;
}

/** What the server gives to those who ask, whoever they are. */
export const statusLimits = {
  connections: 32,
  /** At a time. */
  scrapes: 2,
  headerBytes: 8 * 1024,
  requestMs: 10_000,
  scrapeMs: 10_000,
  /** Of Envoy's metrics. */
  scrapeBytes: 256 * 1024 * 1024,
} as const;

type StatusLimits = Readonly<Record<keyof typeof statusLimits, number>>;

/**
 * Serves `/healthz/ready`, and at `/metrics` and `/stats/prometheus` the agent's metrics with Envoy's behind them, as Istio's agent does on
 * port 15020. Envoy's are passed on as they come. What takes too long, or is too much, ends the connection: half an answer is none.
 *
 * @throws PortolanError when the port cannot be had
 */
export async function serveStatus(
  { port, host }: StatusAddress,
  source: StatusSource,
  limits: StatusLimits = statusLimits,
): Promise<StatusServer> {
  let scrapes = 0;
  let errors = 0;
  const onError = () => {
    errors += 1;
  };

  async function scrape(response: ServerResponse, isHead: boolean): Promise<void> {
    if (isHead) return void response.writeHead(200, metricsType).end();
    if (scrapes >= limits.scrapes) return answer(response, 503, `${limits.scrapes} others read the metrics now\n`);
    scrapes += 1;
    const late = setTimeout(() => response.destroy(), limits.scrapeMs);
    try {
      const envoys = await source.envoyMetrics();
      response.writeHead(200, metricsType);
      response.write(source.metrics(errors));
      let bytes = 0;
      for await (const chunk of envoys ?? []) {
        bytes += chunk.length;
        if (bytes > limits.scrapeBytes || response.destroyed) return void response.destroy();
        if (!response.write(chunk)) await drained(response);
      }
      response.end();
    } catch {
      onError();
      response.destroy();
    } finally {
      clearTimeout(late);
      scrapes -= 1;
    }
  }

  async function respond({ method, url }: IncomingMessage, response: ServerResponse): Promise<void> {
    if (method !== "GET" && method !== "HEAD") return answer(response, 405, "only GET is answered here\n");
    const path = (url ?? "").split("?")[0];
    if (path === "/metrics" || path === "/stats/prometheus") return scrape(response, method === "HEAD");
    if (path !== "/healthz/ready")
      return answer(response, 404, "here are /healthz/ready, /metrics and /stats/prometheus\n");
    const missing = await source.missing();
    return answer(response, missing === undefined ? 200 : 503, `${missing ?? "ready"}\n`);
  }

  const { connections, headerBytes, requestMs } = limits;
  const options = {
    maxHeaderSize: headerBytes,
    headersTimeout: requestMs,
    requestTimeout: requestMs,
    keepAliveTimeout: 5_000,
  };
  const server = createHttpServer(options, (request, response) => {
    // What is sent along is nobody's concern, and not waited for.
    request.resume();
    respond(request, response).catch(() => {
      onError();
      response.destroy();
    });
  });
  server.maxConnections = connections;
  await listening(server, { port, ...(host === undefined ? {} : { host }) }, onError).catch((cause: unknown) => {
    throw new PortolanError(`cannot listen on port ${port} for the agent's status: ${causeText(cause)}`, [], cause);
  });
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const metricsType = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    "content-length": Buffer.byteLength(text),
  });
  response.end(text);
}

/** Until there is room for more, or nobody to take it. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      response.off("drain", go).off("close", go);
      resolve();
    };
    response.on("drain", go).on("close", go);
  });
}
