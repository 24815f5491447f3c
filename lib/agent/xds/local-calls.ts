/** What an agent answers its Envoy besides the stream: configurations of extensions, and code of Wasm. */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { causeText } from "../../base/cause-text.ts";
import { createModuleFiles } from "../files/module-files.ts";
import type { FrontClient } from "../source/front-client.ts";
import { answerExtensions, extensionPath } from "./extension-polls.ts";

/** Answers a call. @returns undefined for one that is none of its own */
export type LocalCalls = (request: Http2ServerRequest, response: Http2ServerResponse) => Promise<void> | undefined;

/** A poll with all that an Envoy says of itself has 60 to 77 KB. */
const maxPollBytes = 1024 * 1024;

/** Longer than Envoy waits for code: what has come by then is there when it asks again. */
const moduleMs = 120_000;

/** @param folder of the agent */
export function createLocalCalls(client: FrontClient, folder: string): LocalCalls {
  const modules = createModuleFiles(join(folder, "wasm"), (sha256) =>
    client.open(`/v3/wasm/${sha256}`, AbortSignal.timeout(moduleMs)),
  );

  async function sendModule(sha256: string, response: Http2ServerResponse): Promise<void> {
    let path: string;
    try {
      path = await modules.path(sha256);
    } catch (cause) {
      return send(response, 503, causeText(cause));
    }
    const { size } = await stat(path);
    response.writeHead(200, { "content-type": "application/wasm", "content-length": size });
    await pipeline(createReadStream(path), response);
  }

  async function answerPoll(request: Http2ServerRequest, response: Http2ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    if (body === undefined) return send(response, 413, `a poll has more than ${maxPollBytes} bytes`);
    const gone = new AbortController();
    response.stream.once("close", () => gone.abort());
    const waitsMs = Number(request.headers["x-envoy-expected-rq-timeout-ms"]) || 0;
    const asked = { body, holdMs: Math.max(0, waitsMs - 5_000), signal: gone.signal };
    const { status, body: answer } = await answerExtensions({ client, folder }, asked);
    send(response, status, answer);
  }

  return (request, response) => {
    const sha256 = /^\/v3\/wasm\/([0-9a-f]{64})$/.exec(request.url)?.[1];
    if (sha256 !== undefined && request.method === "GET") return sendModule(sha256, response);
    return request.url === extensionPath && request.method === "POST" ? answerPoll(request, response) : undefined;
  };
}

function send(response: Http2ServerResponse, status: number, body: string): void {
  if (response.stream.destroyed) return;
  response.writeHead(status, status === 200 ? { "content-type": "application/json" } : {});
  response.end(body);
}

/** @returns undefined for more than may be read */
async function bodyOf(request: Http2ServerRequest): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > maxPollBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
