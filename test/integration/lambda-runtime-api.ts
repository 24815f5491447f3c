import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Readable } from "node:stream";

/** What a function answers: a result in one piece, or a stream whose end is still to come. */
export type LambdaAnswer =
  | { readonly kind: "result"; readonly result: unknown }
  | { readonly kind: "stream"; readonly contentType: string; readonly body: Readable; readonly whole: Promise<void> };

/** Larger results are refused, as by Lambda. */
const maxResultBytes = 6_291_556;

interface Invocation {
  readonly id: string;
  readonly event: object;
  readonly resolve: (answer: LambdaAnswer) => void;
  readonly reject: (cause: Error) => void;
}

/**
 * The Runtime API of one execution environment, on a port of its own.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
 */
export class RuntimeApi {
  // Who is frozen is silent for as long as it takes.
  readonly #server = createServer(
    { keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 },
    (request, response) => {
      this.#answer(request, response).catch((cause: unknown) => response.destroy(new Error(String(cause))));
    },
  );
  #waiting: ServerResponse | undefined;
  #invocation: Invocation | undefined;
  #isTaken = false;
  #failed: Error | undefined;

  /** @returns what AWS_LAMBDA_RUNTIME_API is to be */
  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    const address = this.#server.address() as AddressInfo; // a TCP server's address is never a text
    return `127.0.0.1:${address.port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** Hands an event to the environment, one at a time. */
  invoke(event: object): Promise<LambdaAnswer> {
    return new Promise((resolve, reject) => {
      this.#invocation = { id: crypto.randomUUID(), event, resolve, reject };
      this.#isTaken = false;
      this.#next();
    });
  }

  /** The environment is gone. */
  fail(cause: Error): void {
    this.#failed = cause;
    this.#invocation?.reject(cause);
  }

  #next(): void {
    if (this.#failed !== undefined) this.#invocation?.reject(this.#failed);
    if (this.#waiting === undefined || this.#invocation === undefined || this.#isTaken) return;
    this.#isTaken = true;
    const { id, event } = this.#invocation;
    this.#waiting.writeHead(200, {
      "content-type": "application/json",
      "lambda-runtime-aws-request-id": id,
      "lambda-runtime-deadline-ms": String(Date.now() + 30_000),
      "lambda-runtime-invoked-function-arn": "arn:aws:lambda:eu-north-1:123456789012:function:portolan",
    });
    this.#waiting.end(JSON.stringify(event));
    this.#waiting = undefined;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url?.replace("/2018-06-01/runtime", "");
    if (path === "/invocation/next") {
      this.#waiting = response;
      return this.#next();
    }
    const invocation = this.#invocation;
    if (path === "/init/error" || invocation === undefined) {
      this.fail(new Error(`the function cannot be loaded: ${await textOf(request)}`));
      response.writeHead(202).end();
      return;
    }
    if (path === `/invocation/${invocation.id}/error`) invocation.reject(new Error(await textOf(request)));
    else if (request.headers["lambda-runtime-function-response-mode"] === "streaming")
      await streamed(request, invocation);
    else {
      const text = await textOf(request);
      if (Buffer.byteLength(text) > maxResultBytes) {
        response.writeHead(413).end();
        return invocation.reject(new Error("Function.ResponseSizeTooLarge"));
      }
      invocation.resolve({ kind: "result", result: JSON.parse(text) });
    }
    response.writeHead(202).end();
  }
}

async function streamed(request: IncomingMessage, { resolve }: Invocation): Promise<void> {
  const whole = new Promise<void>((done, fail) => {
    request.once("end", () => {
      const type = request.trailers["lambda-runtime-function-error-type"];
      if (type === undefined) done();
      else fail(new Error(`the function failed in the middle of its answer: ${type}`));
    });
    request.once("error", fail);
  });
  whole.catch(() => {});
  resolve({ kind: "stream", contentType: request.headers["content-type"] ?? "", body: request, whole });
  await whole.catch(() => {});
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
