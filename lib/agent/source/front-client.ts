import { readFile, stat } from "node:fs/promises";
import type { ClientRequest } from "node:http";
import { causeText } from "../../base/cause-text.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { HttpAgent, httpRequest } from "../http.ts";

/** Where a front answers, and how it is asked. */
export interface FrontAddress {
  /** Of http or https. */
  readonly url: string;
  /** Certificates that the front's is held against; the system's by default. */
  readonly caFile?: string;
  /** Holds the token alone; read again whenever it changes. */
  readonly tokenFile?: string;
  /** The agent's own certificate and key, where the front wants one. */
  readonly certificateFile?: string;
  readonly keyFile?: string;
}

/** What a front said. */
export interface FrontReply {
  readonly status: number;
  readonly body: string;
  /** The same as it came. */
  readonly bytes: Uint8Array;
  /** Bytes on the wire, headers among them. */
  readonly sentBytes: number;
  readonly receivedBytes: number;
}

export interface FrontRequest {
  readonly path: string;
  /** Message of a call, in JSON or in binary; absent: it is a GET. */
  readonly body?: string | Uint8Array;
  /** How long the front may hold a call. */
  readonly holdMs?: number;
  readonly signal?: AbortSignal;
}

export interface FrontClient {
  /** @throws PortolanError when there is no answer, or not all of one */
  ask(request: FrontRequest): Promise<FrontReply>;
  /**
   * GETs something that is read piece by piece.
   *
   * @throws PortolanError when there is no answer, or one of another status than 200
   */
  open(path: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  close(): void;
}

/** Longest answer that is read. */
const maxBodyBytes = 256 * 1024 * 1024;

/** How long an answer may take besides the time that it is held. */
const answerMs = 10_000;

/** Keeps its connections; each request reads the token anew if its file has changed. */
export function createFrontClient({ url, ...files }: FrontAddress): FrontClient {
  const base = new URL(url);
  const isTls = base.protocol === "https:";
  const options = { keepAlive: true, maxSockets: 8, maxFreeSockets: 8 };
  // TLS is a few MB that a front without it does not take.
  const https = isTls ? process.getBuiltinModule("node:https") : undefined;
  const plain = new HttpAgent(options);
  const secure = https && new https.Agent(options);
  const contents = createFileReader();

  /** Of TLS; a connection that was opened with other files goes on until it is closed. */
  async function credentials() {
    const [ca, cert, key] = await Promise.all([
      contents(files.caFile),
      contents(files.certificateFile),
      contents(files.keyFile),
    ]);
    return {
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    };
  }

  async function begin({ path, body, holdMs = 0, signal }: FrontRequest): Promise<ClientRequest> {
    const token = (await contents(files.tokenFile))?.trim();
    const type = typeof body === "object" ? "application/proto" : "application/json";
    const headers = {
      accept: type,
      ...(body === undefined
        ? {}
        : {
            "connect-protocol-version": "1",
            // The front holds five seconds less.
            "connect-timeout-ms": String(holdMs + 5_000),
            // The same for a poll.
            "x-envoy-expected-rq-timeout-ms": String(holdMs + 5_000),
            "content-type": type,
            "content-length": String(Buffer.byteLength(body)),
          }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    const shared = { method: body === undefined ? "GET" : "POST", headers, ...(signal && { signal }) };
    const target = new URL(base.pathname.replace(/\/$/, "") + path, base);
    return https === undefined
      ? httpRequest(target, { ...shared, agent: plain })
      : https.request(target, { ...shared, ...(await credentials()), agent: secure });
  }

  return {
    async ask(request) {
      const { body, holdMs = 0 } = request;
      return settle(await begin(request), body, holdMs + answerMs);
    },
    async open(path, signal) {
      const begun = await begin({ path, signal });
      return new Promise((resolve, reject) => {
        begun.once("error", (cause) => reject(failed(cause)));
        begun.once("response", (response) => {
          if (response.statusCode === 200) return resolve(response);
          response.destroy();
          reject(new PortolanError(`the server answers ${response.statusCode} to GET ${path}`));
        });
        begun.end();
      });
    },
    close() {
      plain.destroy();
      secure?.destroy();
    },
  };
}

const failed = (cause: unknown) => new PortolanError(causeText(cause), [], cause);

function settle(begun: ClientRequest, body: FrontRequest["body"], timeoutMs: number): Promise<FrontReply> {
  return new Promise((resolve, reject) => {
    const fail = (cause: unknown) => reject(failed(cause));
    const timer = setTimeout(() => begun.destroy(new Error(`no answer in ${timeoutMs / 1_000} s`)), timeoutMs);
    begun.once("close", () => clearTimeout(timer));
    begun.once("error", fail);
    begun.once("response", (response) => {
      const { socket } = response;
      const before = { sent: socket.bytesWritten, received: socket.bytesRead };
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > maxBodyBytes) begun.destroy(new Error(`the answer has more than ${maxBodyBytes} bytes`));
        else chunks.push(chunk);
      });
      response.once("aborted", () => fail("the answer ended early"));
      response.once("error", fail);
      response.once("end", () => {
        const heads = response.rawHeaders.reduce((sum, { length }) => sum + length + 2, 0);
        const all = Buffer.concat(chunks);
        resolve({
          status: response.statusCode ?? 0,
          body: all.toString("utf8"),
          bytes: all,
          sentBytes: before.sent === 0 ? 0 : requestBytes(begun, body),
          receivedBytes: heads + bytes,
        });
      });
    });
    begun.end(body);
  });
}

/** About what a request took on the wire. */
const requestBytes = (begun: ClientRequest, body: string | Uint8Array = ""): number =>
  Object.entries(begun.getHeaders()).reduce((sum, [name, value]) => sum + name.length + String(value).length + 4, 0) +
  begun.path.length +
  begun.method.length +
  12 +
  Buffer.byteLength(body);

/** Reads files, each again when it has changed; undefined for no file. @throws PortolanError that names it */
function createFileReader(): (path: string | undefined) => Promise<string | undefined> {
  const read = new Map<string, { readonly tag: string; readonly text: string }>();
  return async (path) => {
    if (path === undefined) return undefined;
    try {
      const { mtimeMs, size, ino } = await stat(path);
      const tag = `${mtimeMs} ${size} ${ino}`;
      const known = read.get(path);
      if (known?.tag === tag) return known.text;
      const text = await readFile(path, "utf8");
      read.set(path, { tag, text });
      return text;
    } catch (cause) {
      throw new PortolanError(`cannot read ${path}: ${causeText(cause)}`, [], cause);
    }
  };
}
