import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type IncomingMessage, request as requestHttp, type ServerResponse } from "node:http";
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TLSSocket } from "node:tls";
import { createAuthority, issueServer } from "./certificates.ts";

/** What a platform does with a request before any function runs. Sources: docs/how-platforms-behave.md. */
interface Rules {
  /** The answer to a request whose Host is not the name that TLS was asked for. */
  readonly foreignHost: { readonly status: number; readonly body: string };
  readonly maxBodyBytes: number;
  readonly maxHeaderBytes: number;
  /** An answer that does not begin within so many milliseconds is cut off, with this status. */
  readonly silence: { readonly ms: number; readonly status: number };
}

export const platforms = {
  cloudflare: {
    foreignHost: { status: 409, body: "error code: 1013\n" },
    maxBodyBytes: 100 * 1024 * 1024,
    maxHeaderBytes: 128 * 1024,
    silence: { ms: 100_000, status: 524 },
  },
  lambda: {
    foreignHost: { status: 403, body: '{"Message":null}' },
    maxBodyBytes: 6 * 1024 * 1024,
    maxHeaderBytes: 10 * 1024,
    silence: { ms: 900_000, status: 502 },
  },
} as const satisfies Readonly<Record<string, Rules>>;

/** Where a front is reached from outside. */
export interface PublicAddress {
  readonly url: string;
  /** The authority that has signed its certificate. */
  readonly caFile: string;
}

export interface Platform extends PublicAddress {
  /** How many requests were passed on, how many of them wait for their answer, and how many had a foreign Host. */
  counts(): { readonly passed: number; readonly waiting: number; readonly foreign: number };
  close(): Promise<void>;
}

type Request = IncomingMessage | Http2ServerRequest;
type Response = ServerResponse | Http2ServerResponse;

/** No name but this leads to this machine everywhere. */
const name = "localhost";

/** Stands before a front as a platform does: TLS with HTTP/2 and HTTP/1.1, found by its name, within the platform's limits. */
export async function startPlatform(kind: keyof typeof platforms, upstream: string): Promise<Platform> {
  const rules: Rules = platforms[kind];
  const folder = mkdtempSync(join(tmpdir(), "portolan-platform-"));
  const caFile = createAuthority(folder);
  const { certificate, key } = issueServer(caFile, name);
  const counts = { passed: 0, waiting: 0, foreign: 0 };
  const answer = (request: Request, response: Response) => {
    const refuse = (status: number, body: string) => {
      response.statusCode = status;
      response.end(body);
    };
    if (hostOf(request) !== serverNameOf(request)) {
      counts.foreign += 1;
      return refuse(rules.foreignHost.status, rules.foreignHost.body);
    }
    if (request.rawHeaders.join("").length > rules.maxHeaderBytes) return refuse(431, "");
    if (Number(request.headers["content-length"] ?? 0) > rules.maxBodyBytes) return refuse(413, "");
    counts.passed += 1;
    counts.waiting += 1;
    response.once("close", () => {
      counts.waiting -= 1;
    });
    passOn(upstream, request, response, rules);
  };
  const server = createSecureServer(
    { key: readFileSync(key), cert: readFileSync(certificate), allowHTTP1: true },
    answer,
  );
  const sockets = new Set<{ destroy(): void }>();
  server.on("secureConnection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, name, resolve));
  const { port } = server.address() as AddressInfo; // a TCP server's address is never a text
  return {
    url: `https://${name}:${port}`,
    caFile,
    counts: () => ({ ...counts }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          rmSync(folder, { recursive: true });
          resolve();
        });
        for (const socket of sockets) socket.destroy();
      }),
  };
}

const hostOf = ({ headers }: Request): string =>
  String(headers[":authority"] ?? headers.host ?? "").replace(/:\d+$/, "");

function serverNameOf(request: Request): string | false {
  const socket = "stream" in request ? request.stream.session?.socket : request.socket;
  return socket instanceof TLSSocket ? (socket.servername ?? false) : false;
}

/** Hands a request on as the function gets it: without what HTTP/2 and the connection add, with who asked. */
function passOn(upstream: string, request: Request, response: Response, { silence, maxBodyBytes }: Rules): void {
  const url = new URL(request.url ?? "/", upstream);
  const kept = Object.entries(request.headers).filter(([header]) => !header.startsWith(":") && !hops.has(header));
  const headers = {
    ...Object.fromEntries(kept),
    host: String(request.headers[":authority"] ?? request.headers.host),
    "x-forwarded-for": request.socket.remoteAddress ?? "",
    "x-forwarded-proto": "https",
  };
  const onward = requestHttp(url, { method: request.method ?? "GET", headers }, (answered) => {
    response.statusCode = answered.statusCode ?? 502;
    for (const [header, value] of Object.entries(answered.headers))
      if (value !== undefined && !hops.has(header)) response.setHeader(header, value);
    answered.pipe(response);
  });
  onward.setTimeout(silence.ms, () => onward.destroy(new Error("silent")));
  onward.on("error", () => {
    if (!response.headersSent) response.statusCode = silence.status;
    response.end();
  });
  let bytes = 0;
  request.on("data", (chunk: Uint8Array) => {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) onward.destroy(new Error("too large"));
    else onward.write(chunk);
  });
  request.on("end", () => onward.end());
  response.on("close", () => onward.destroy());
}

const hops: ReadonlySet<string> = new Set(["connection", "keep-alive", "transfer-encoding", "te", "host"]);
