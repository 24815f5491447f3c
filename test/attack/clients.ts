import { Agent, request as httpRequest } from "node:http";
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2, constants } from "node:http2";
import { connect, type Socket } from "node:net";
import type { ServerName, Target } from "./target.ts";

/** How a request ended: a status (`200`, `grpc 3`), or what happened to its connection. */
export interface Outcome {
  readonly status: string;
  /** The beginning of what was said. */
  readonly text: string;
}

export interface HttpRequest {
  /** The front where it does not say. */
  readonly to?: ServerName;
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** The ways to send something to a target. */
export interface Clients {
  http(request: HttpRequest): Promise<Outcome>;
  /** A body in chunks, without an end until there is an answer or so many bytes were sent. */
  endless(path: string, maxBytes: number): Promise<Outcome>;
  /** Bytes over a connection of their own. */
  raw(bytes: string | Uint8Array): Promise<Outcome>;
  /** The same on a connection that is then left alone, neither read nor written, until the end. */
  leave(bytes: string | Uint8Array): Promise<Outcome>;
  grpc(path: string, body: Uint8Array, headers?: Readonly<Record<string, string>>): Promise<Outcome>;
  /** A call that is taken back at once. */
  reset(path: string, body: Uint8Array): Promise<Outcome>;
  /**
   * Messages on a stream that lasts, until the first answer (`answered`), its end, or a while without either (`open`).
   *
   * @param taking `unread`: nobody takes an answer, and the stream is `left` so for a while; `patiently`: that while is long
   */
  stream(path: string, messages: readonly Uint8Array[], taking?: "unread" | "patiently"): Promise<Outcome>;
  /** Bytes over an HTTP/2 connection of their own: whether it is `closed` soon after, or still `open`. */
  frames(bytes: Uint8Array): Promise<Outcome>;
  /** Ends connections that were left alone. */
  dropLeft(): void;
  close(): void;
}

const timeoutMs = 30_000;
const textLength = 300;
const callsPerSession = 60;
/** So long an HTTP/2 connection is watched. */
const watchMs = 100;
/** Connections that may be left alone at a time. */
const maxLeft = 400;

export function createClients(target: Target): Clients {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const { hostname, port } = new URL(target.url);
  const urls = { front: target.url, compile: target.compileUrl, guarded: target.guardedUrl };
  const left = new Set<Socket>();
  const sessions = new Set<ClientHttp2Session>();
  let shared: { readonly session: ClientHttp2Session; calls: number; open: number } | undefined;

  /** A session for some calls, and no more than the server takes at a time. It goes when the last of them is over. */
  function sharedSession() {
    if (shared !== undefined && !shared.session.destroyed && !shared.session.closed && shared.calls < callsPerSession) {
      return shared;
    }
    // Our own bound on what waits to be sent would lose calls.
    const session = connectHttp2(target.grpcUrl, { maxSessionMemory: 1_000 });
    sessions.add(session);
    session.on("error", () => {});
    session.on("close", () => sessions.delete(session));
    shared = { session, calls: 0, open: 0 };
    return shared;
  }

  function stream(path: string, headers: Readonly<Record<string, string>>): ClientHttp2Stream {
    const its = sharedSession();
    const opened = its.session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      ...headers,
    });
    its.calls += 1;
    its.open += 1;
    opened.on("error", () => {});
    opened.on("close", () => {
      its.open -= 1;
      if (its.open === 0 && its.calls >= callsPerSession) its.session.destroy();
    });
    return opened;
  }

  return {
    http: ({ to = "front", method = "POST", path, headers = {}, body = "" }) =>
      new Promise((resolve) => {
        const sent = httpRequest(
          `${urls[to]}${path}`,
          {
            method,
            agent,
            timeout: timeoutMs,
            headers: { ...(body.length === 0 ? {} : { "content-length": Buffer.byteLength(body) }), ...headers },
          },
          (response) => {
            let text = "";
            response.on("data", (data: Buffer) => {
              if (text.length < textLength) text += data.toString("latin1").slice(0, textLength);
            });
            const end = () => resolve({ status: String(response.statusCode), text });
            response.on("end", end);
            response.on("error", end);
            response.on("close", end);
          },
        );
        sent.on("timeout", () => sent.destroy(new Error("timeout")));
        sent.on("error", (cause) => resolve({ status: endOf(cause), text: cause.message }));
        sent.end(body);
      }),

    endless: (path, maxBytes) =>
      new Promise((resolve) => {
        const headers = { "content-type": "application/json" };
        const sent = httpRequest(`${target.url}${path}`, { method: "POST", headers, timeout: timeoutMs });
        const chunk = Buffer.alloc(65_536, " ");
        let bytes = 0;
        let over = false;
        const end = (outcome: Outcome) => {
          over = true;
          sent.destroy();
          resolve(outcome);
        };
        const more = () => {
          while (!over && bytes < maxBytes) {
            bytes += chunk.length;
            if (!sent.write(chunk)) {
              sent.once("drain", more);
              return;
            }
          }
          if (!over) end({ status: `took ${bytes} bytes`, text: "" });
        };
        sent.on("response", (response) => end({ status: String(response.statusCode), text: "" }));
        sent.on("timeout", () => end({ status: "timeout", text: "" }));
        sent.on("error", (cause) => end({ status: endOf(cause), text: cause.message }));
        more();
      }),

    raw: (bytes) =>
      new Promise((resolve) => {
        const socket = connect(Number(port), hostname);
        let text = "";
        const end = (status: string) => {
          socket.destroy();
          resolve({ status: /^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? status, text: text.slice(0, textLength) });
        };
        socket.setTimeout(timeoutMs, () => end("timeout"));
        socket.on("data", (data) => {
          if (text.length < textLength) text += data.toString("latin1");
          if (text.includes("\r\n\r\n")) end("answered");
        });
        socket.on("error", () => end("closed"));
        socket.on("close", () => end("closed"));
        socket.write(bytes);
      }),

    leave: (bytes) =>
      new Promise((resolve) => {
        const [oldest] = left;
        if (left.size >= maxLeft && oldest !== undefined) {
          left.delete(oldest);
          oldest.destroy();
        }
        const socket = connect(Number(port), hostname);
        left.add(socket);
        socket.pause();
        socket.on("error", () => {});
        socket.on("close", () => {
          left.delete(socket);
          resolve({ status: "closed", text: "" });
        });
        socket.write(bytes, () => resolve({ status: "left", text: "" }));
      }),

    grpc: (path, body, headers = {}) =>
      new Promise((resolve) => {
        const opened = stream(path, headers);
        let status = "";
        let text = "";
        const read = (received: Readonly<Record<string, unknown>>) => {
          if (received["grpc-status"] !== undefined) status = `grpc ${String(received["grpc-status"])}`;
          else status ||= received[":status"] === 200 ? "" : String(received[":status"]);
          text ||= String(received["grpc-message"] ?? "");
        };
        opened.on("response", read);
        opened.on("trailers", read);
        const timer = setTimeout(() => resolve({ status: "timeout", text }), timeoutMs);
        const end = () => {
          clearTimeout(timer);
          resolve({ status: status || `reset ${opened.rstCode}`, text });
        };
        // Node's client never says `close` of a call that was answered before it was sent to its end.
        opened.on("end", () => status !== "" && end());
        opened.on("close", end);
        opened.resume();
        opened.end(body);
      }),

    stream: (path, messages, taking) =>
      new Promise((resolve) => {
        const opened = stream(path, {});
        let outcome: Outcome | undefined;
        const end = (status: string, text = "") => {
          outcome ??= { status, text };
          opened.close(constants.NGHTTP2_CANCEL);
        };
        const read = (received: Readonly<Record<string, unknown>>) => {
          const { "grpc-status": status, "grpc-message": text } = received;
          if (status !== undefined) end(`grpc ${String(status)}`, String(text ?? ""));
        };
        opened.on("response", read);
        opened.on("trailers", read);
        if (taking !== "unread") opened.on("data", () => end("answered"));
        const timer = setTimeout(
          () => end(taking === "unread" ? "left" : "open"),
          taking === "patiently" ? timeoutMs : watchMs * 5,
        );
        opened.on("close", () => {
          clearTimeout(timer);
          resolve(outcome ?? { status: `reset ${opened.rstCode}`, text: "" });
        });
        for (const message of messages) opened.write(message);
      }),

    reset: (path, body) =>
      new Promise((resolve) => {
        const opened = stream(path, {});
        opened.on("close", () => resolve({ status: "reset", text: "" }));
        opened.write(body);
        opened.close(constants.NGHTTP2_CANCEL);
      }),

    frames: (bytes) =>
      new Promise((resolve) => {
        const { hostname, port } = new URL(target.grpcUrl);
        const socket = connect(Number(port), hostname);
        const end = (status: string) => {
          socket.destroy();
          resolve({ status, text: "" });
        };
        socket.resume();
        socket.on("error", () => end("closed"));
        socket.on("close", () => end("closed"));
        socket.write(bytes, () => setTimeout(() => end("open"), watchMs));
      }),

    dropLeft() {
      for (const socket of left) socket.destroy();
    },

    close() {
      agent.destroy();
      for (const socket of left) socket.destroy();
      for (const open of sessions) open.destroy();
    },
  };
}

function endOf(cause: Error): string {
  return cause.message === "timeout" ? "timeout" : "closed";
}
