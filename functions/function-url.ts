import { once } from "node:events";

/** A request as a function URL and an HTTP API of API Gateway hand it on, payload format 2.0. */
interface UrlEvent {
  readonly rawPath: string;
  readonly rawQueryString: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly cookies?: readonly string[];
  readonly requestContext: { readonly domainName: string; readonly http: { readonly method: string } };
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
}

/** What Lambda's runtime for Node gives besides Node. */
interface LambdaRuntime {
  streamifyResponse(handler: StreamHandler): StreamHandler;
  readonly HttpResponseStream: {
    /** The same stream, with status and headers before what is written first. */
    from(stream: Writable, told: { statusCode: number; headers: Record<string, string> }): Writable;
  };
}

type Writable = NodeJS.WritableStream;
type StreamHandler = (event: UrlEvent, stream: Writable) => Promise<void>;

/** Answers web requests. The event has what Lambda has found out about the caller. */
interface App {
  fetch(request: Request, event: object): Response | Promise<Response>;
}

/** An answer in one piece, as API Gateway takes it. */
interface WholeAnswer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly isBase64Encoded: true;
}

/** Lambda buffers 6 MB of JSON, in which base64 makes four bytes of three; the rest is for headers. */
const maxWholeBytes = 4_500_000;

/**
 * The handler of a function behind an HTTP API of API Gateway, which takes no streams. Behind it a client may have to bring a certificate.
 *
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
 */
export function wholeHandler(app: App): (event: UrlEvent) => Promise<WholeAnswer> {
  return async (event) => {
    const response = await answerTo(app, event);
    const bytes = Buffer.from(await response.arrayBuffer());
    if (bytes.length <= maxWholeBytes) return wholeAnswer(response.status, Object.fromEntries(response.headers), bytes);
    const why = `the answer has ${bytes.length} bytes, and API Gateway passes ${maxWholeBytes} on: use the function URL\n`;
    return wholeAnswer(500, { "content-type": "text/plain; charset=utf-8" }, Buffer.from(why));
  };
}

const wholeAnswer = (statusCode: number, headers: Readonly<Record<string, string>>, bytes: Buffer): WholeAnswer => ({
  statusCode,
  headers,
  body: bytes.toString("base64"),
  isBase64Encoded: true,
});

async function answerTo(app: App, event: UrlEvent): Promise<Response> {
  const request = readable(event);
  return request === undefined ? new Response("no request\n", { status: 400 }) : app.fetch(request, event);
}

/**
 * The handler of a function behind a URL whose invoke mode is RESPONSE_STREAM. Such answers may be of 200 MB, where buffered ones end
 * at 6, and the first byte leaves before the last is read. Hono's own handler ends an answer whose body fails as if it were whole, and
 * Envoy would take the part for all.
 *
 * @throws Error where there is no Lambda runtime: the handler is of no use elsewhere
 */
export function streamedHandler(app: App): StreamHandler {
  const runtime = lambdaRuntime();
  return runtime.streamifyResponse(async (event, stream) => {
    const response = await answerTo(app, event);
    const told = { statusCode: response.status, headers: Object.fromEntries(response.headers) };
    const out = runtime.HttpResponseStream.from(stream, told);
    // Status and headers go with the first write; an answer without a body has one all the same.
    out.write("");
    // What is thrown from here on Lambda hears of, and ends the answer short: whoever reads it keeps what he had.
    for await (const piece of response.body ?? []) if (!out.write(piece)) await once(out, "drain");
    out.end();
  });
}

/** @returns undefined for what no request of the web can be, as one with a header out of any alphabet */
function readable(event: UrlEvent): Request | undefined {
  try {
    return requestOf(event);
  } catch {
    return undefined;
  }
}

function requestOf({ rawPath, rawQueryString, headers, cookies, requestContext, body, ...event }: UrlEvent): Request {
  const { domainName, http } = requestContext;
  const query = rawQueryString === "" ? "" : `?${rawQueryString}`;
  const given = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  );
  const cookie: [string, string][] = cookies === undefined ? [] : [["cookie", cookies.join("; ")]];
  const bytes = body === undefined ? undefined : Buffer.from(body, event.isBase64Encoded === true ? "base64" : "utf8");
  return new Request(`https://${domainName}${rawPath}${query}`, {
    method: http.method,
    headers: [...given, ...cookie],
    // Neither has one by the rules of the web.
    ...(bytes === undefined || bytes.length === 0 || ["GET", "HEAD"].includes(http.method) ? {} : { body: bytes }),
  });
}

function lambdaRuntime(): LambdaRuntime {
  const runtime: unknown = Reflect.get(globalThis, "awslambda");
  if (isRuntime(runtime)) return runtime;
  throw new Error("there is no awslambda: this handler streams, and needs Lambda's runtime for Node");
}

const isRuntime = (value: unknown): value is LambdaRuntime =>
  typeof value === "object" && value !== null && "streamifyResponse" in value && "HttpResponseStream" in value;
