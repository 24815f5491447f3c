/**
 * One execution environment of a Lambda function: `node lambda-process.ts <folder of its code>`. Stands for AWS's runtime for Node, in
 * as much as our handlers see of it: it asks the Runtime API at AWS_LAMBDA_RUNTIME_API for events one after the other, and gives
 * `awslambda`, by which a handler streams.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
 * @see https://github.com/aws/aws-lambda-nodejs-runtime-interface-client
 */
import { Agent, type ClientRequest, request } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder = ""] = process.argv.slice(2);
const api = `http://${process.env.AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime`;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const streaming = Symbol.for("aws.lambda.runtime.handler.streaming");

type Handler = ((event: unknown, second: unknown, third?: unknown) => Promise<unknown>) & { [streaming]?: "response" };

const beforeFirst = new WeakMap<ClientRequest, () => void>();

Object.assign(globalThis, {
  awslambda: {
    streamifyResponse: (handler: Handler) => Object.assign(handler, { [streaming]: "response" }),
    HttpResponseStream: {
      from(stream: ClientRequest, prelude: object) {
        stream.setHeader("content-type", "application/vnd.awslambda.http-integration-response");
        const write = stream.write.bind(stream);
        beforeFirst.set(stream, () => {
          write(JSON.stringify(prelude), "utf8");
          write(new Uint8Array(8), "utf8");
        });
        return stream;
      },
    },
  },
});

/** A request to the Runtime API, and what it says to it. */
function call(method: string, path: string, headers: Record<string, string | string[]> = {}) {
  const sent = request(api + path, { method, headers, agent });
  const answer = new Promise<{ readonly id: string; readonly text: string }>((resolve, reject) => {
    sent.once("error", reject);
    sent.once("response", async (response) => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of response) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString("utf8");
      resolve({ id: String(response.headers["lambda-runtime-aws-request-id"] ?? ""), text });
    });
  });
  return { sent, answer };
}

const post = async (path: string, body: string) => {
  const { sent, answer } = call("POST", path, { "content-type": "application/json" });
  sent.end(body);
  await answer;
};

const toldOf = (cause: unknown) => ({
  errorType: cause instanceof Error ? cause.name : "Error",
  errorMessage: cause instanceof Error ? cause.message : String(cause),
});

async function stream(handler: Handler, event: unknown, id: string): Promise<void> {
  const trailers = ["Lambda-Runtime-Function-Error-Type", "Lambda-Runtime-Function-Error-Body"];
  const { sent, answer } = call("POST", `/invocation/${id}/response`, {
    "Lambda-Runtime-Function-Response-Mode": "streaming",
    Trailer: trailers,
    "content-type": "application/octet-stream",
    "transfer-encoding": "chunked",
  });
  const write = sent.write.bind(sent);
  Object.assign(sent, {
    write(...given: Parameters<typeof write>) {
      const first = beforeFirst.get(sent);
      beforeFirst.delete(sent);
      first?.();
      return write(...given);
    },
  });
  try {
    await handler(event, sent, {});
  } catch (cause) {
    const told = toldOf(cause);
    const [type = "", body = ""] = trailers;
    sent.addTrailers({ [type]: told.errorType, [body]: Buffer.from(JSON.stringify(told)).toString("base64") });
    sent.end();
  }
  await answer;
}

/** As a function is configured: the file, and what it exports. */
const [, name = ""] = (process.env._HANDLER ?? "index.handler").split(".");

const exported: Readonly<Record<string, Handler>> = await import(pathToFileURL(join(folder, "index.mjs")).href).catch(
  async (cause: unknown) => {
    await post("/init/error", JSON.stringify(toldOf(cause)));
    process.exit(1);
  },
);
const handler = exported[name];
if (handler === undefined) {
  await post("/init/error", JSON.stringify(toldOf(new Error(`index.mjs exports no ${name}`))));
  process.exit(1);
}
for (;;) {
  const { sent, answer } = call("GET", "/invocation/next");
  sent.end();
  const { id, text } = await answer;
  const event: unknown = JSON.parse(text);
  if (handler[streaming] === "response") await stream(handler, event, id);
  else {
    await handler(event, {}).then(
      (result) => post(`/invocation/${id}/response`, JSON.stringify(result ?? null)),
      (cause: unknown) => post(`/invocation/${id}/error`, JSON.stringify(toldOf(cause))),
    );
  }
}
