import { Hono } from "hono/tiny";
import { resourceTypes } from "../snapshot/resource-type.ts";
import type { AnswerBody } from "./answer.ts";
import type { Front } from "./front.ts";
import { answerPoll } from "./poll.ts";

/** Bodies of polls are 60 to 77 KB; this leaves room for large metadata. */
const maxBodyBytes = 1024 * 1024;

/** Answers up to this size are sent in one piece; larger ones flow, so that memory does not grow with readers. */
const wholeBytes = 128 * 1024;

/** The HTTP front, from the store alone. Errors never have status 200, so no Envoy takes one for an empty answer. */
export function frontApp(front: Front): Hono {
  const app = new Hono();

  // A parameter rather than the path itself: it is decoded, so that `%3A` is a colon too.
  app.post("/v3/:call", async (c) => {
    const call = c.req.param("call");
    const type = resourceTypes.find((name) => `discovery:${name}` === call);
    if (type === undefined) return problem(404, `there is no ${call} here`);
    if (Number(c.req.header("content-length") ?? 0) > maxBodyBytes) return problem(413, "the body is over 1 MiB");
    const answer = await answerPoll(front, {
      type,
      body: await c.req.text(),
      patienceMs: Number(c.req.header("x-envoy-expected-rq-timeout-ms")) || 0,
      signal: c.req.raw.signal,
    });
    switch (answer.kind) {
      case "unchanged":
        return new Response(undefined, { status: 304 });
      case "refused":
        return problem(answer.status, answer.reason);
      case "changed":
        return discoveryResponse(answer.body);
    }
  });

  app.get("/healthz", async (c) => {
    const loaded = await front.served();
    return loaded === undefined ? problem(503, "nothing was published yet") : c.json({ root: loaded.hash });
  });

  app.get("/metrics", async (c) => {
    const metrics = await front.metrics.render?.();
    if (metrics === undefined) return problem(404, "no metrics are kept here");
    return c.body(metrics.text, 200, { "content-type": metrics.contentType });
  });

  app.get("/refusals", (c) => c.json({ refusals: front.refusals.standing() }));

  app.notFound((c) => problem(404, `there is no ${c.req.method} ${c.req.path} here`));
  app.onError((cause) => {
    front.onError(cause);
    return problem(503, "the store cannot be read");
  });
  return app;
}

/** An error that says what is wrong; RFC 9457. */
function problem(status: number, detail: string): Response {
  return new Response(`${JSON.stringify({ status, detail })}\n`, {
    status,
    headers: { "content-type": "application/problem+json" },
  });
}

async function discoveryResponse(body: AnswerBody): Promise<Response> {
  const headers = { "content-type": "application/json", "content-length": String(body.bytes) };
  const content = body.bytes <= wholeBytes ? await wholeOf(body) : ReadableStream.from(body.chunks());
  return new Response(content, { headers });
}

async function wholeOf(body: AnswerBody): Promise<Uint8Array<ArrayBuffer>> {
  const whole = new Uint8Array(body.bytes);
  let offset = 0;
  for await (const chunk of body.chunks()) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return whole;
}
