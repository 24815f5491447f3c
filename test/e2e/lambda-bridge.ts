import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** What a Lambda function answers behind a function URL. */
interface LambdaResult {
  readonly statusCode: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
}

export type LambdaHandler = (event: object) => Promise<unknown>;

/** Stands where AWS puts a function URL: makes an event of each request and a response of each result. */
export async function startBridge(handler: LambdaHandler): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    const event = await eventOf(request);
    try {
      const { statusCode, headers, body = "", isBase64Encoded } = asResult(await handler(event));
      response.writeHead(statusCode, { ...headers });
      response.end(isBase64Encoded === true ? Buffer.from(body, "base64") : body);
    } catch (cause) {
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
    body: Buffer.concat(chunks).toString("utf8"),
    isBase64Encoded: false,
  };
}

function asResult(value: unknown): LambdaResult {
  if (typeof value === "object" && value !== null && "statusCode" in value && typeof value.statusCode === "number") {
    return { ...value, statusCode: value.statusCode };
  }
  throw new Error(`no response: ${JSON.stringify(value)}`);
}
