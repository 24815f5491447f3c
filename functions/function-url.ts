import { once } from "node:events";

/** A request as a function URL hands it on, payload format 2.0. */
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

/**
 * The handler of a function behind a URL whose invoke mode is RESPONSE_STREAM. Such answers may be of 200 MB, where buffered ones end
 * at 6, and the first byte leaves before the last is read.
 *
 * @throws Error where there is no Lambda runtime: the handler is of no use elsewhere
 */
export function streamedHandler(app: App): StreamHandler {
  const runtime = lambdaRuntime();
  return runtime.streamifyResponse(async (event, stream) => {
    const request = readable(event);
    const response =
      request === undefined ? new Response("no request\n", { status: 400 }) : await app.fetch(request, event);
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
