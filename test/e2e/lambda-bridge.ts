import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { LambdaAnswer } from "../integration/lambda-runtime-api.ts";

/** What a Lambda function answers behind a function URL, and what stands before the body of one that streams. */
interface LambdaResult {
  readonly statusCode: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
}

export type Invoke = (event: object) => Promise<LambdaAnswer>;

/** Stands where AWS puts a function URL: makes an event of each request and a response of each answer. */
export async function startBridge(invoke: Invoke): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    try {
      await answer(await invoke(await eventOf(request)), response);
    } catch (cause) {
      if (response.headersSent) return response.destroy();
      // What AWS answers when a function throws.
      response.writeHead(502);
      response.end(String(cause));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address() as AddressInfo; // a TCP server's address is never a text
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The event of a function URL, payload format 2.0. */
async function eventOf(request: IncomingMessage): Promise<object> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { pathname, search } = new URL(request.url ?? "/", "http://x");
  // Whatever is not sure to be text comes in base64.
  const isText = /^(?:$|text\/|application\/(?:json|javascript|xml)\b)/.test(request.headers["content-type"] ?? "");
  return {
    version: "2.0",
    routeKey: "$default",
    rawPath: pathname,
    rawQueryString: search.slice(1),
    headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
    requestContext: {
      accountId: "anonymous",
      domainName: "portolan.lambda-url.eu-north-1.on.aws",
      http: { method: request.method, path: pathname, protocol: "HTTP/1.1", sourceIp: "127.0.0.1", userAgent: "" },
      requestId: crypto.randomUUID(),
      stage: "$default",
      timeEpoch: Date.now(),
    },
    body: Buffer.concat(chunks).toString(isText ? "utf8" : "base64"),
    isBase64Encoded: !isText,
  };
}

async function answer(given: LambdaAnswer, response: ServerResponse): Promise<void> {
  if (given.kind === "stream") return stream(given, response);
  const { statusCode, headers, body = "", isBase64Encoded } = asResult(given.result);
  response.writeHead(statusCode, { ...headers });
  response.end(isBase64Encoded === true ? Buffer.from(body, "base64") : body);
}

/** Between what is told of an answer and its body. */
const delimiter = Buffer.alloc(8);

async function stream(
  { contentType, body, whole }: Extract<LambdaAnswer, { kind: "stream" }>,
  response: ServerResponse,
): Promise<void> {
  if (contentType !== "application/vnd.awslambda.http-integration-response")
    throw new Error(`a stream of ${contentType} says no status`);
  let first = Buffer.alloc(0);
  for await (const chunk of body) {
    if (response.headersSent) {
      if (!response.write(chunk)) await new Promise((resolve) => response.once("drain", resolve));
      continue;
    }
    first = Buffer.concat([first, chunk]);
    const end = first.indexOf(delimiter);
    if (end < 0) continue;
    const { statusCode, headers } = asResult(JSON.parse(first.subarray(0, end).toString("utf8")));
    response.writeHead(statusCode, { ...headers });
    response.write(first.subarray(end + delimiter.length));
  }
  await whole;
  if (!response.headersSent) throw new Error("the stream ended before it said a status");
  response.end();
}

function asResult(value: unknown): LambdaResult {
  if (typeof value === "object" && value !== null && "statusCode" in value && typeof value.statusCode === "number") {
    return { ...value, statusCode: value.statusCode };
  }
  throw new Error(`no response: ${JSON.stringify(value)}`);
}
