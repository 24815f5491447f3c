import { Hono } from "hono/tiny";
import { PortolanError, unreachable } from "../config/diagnostic.ts";
import { resourceTypes } from "../snapshot/resource-type.ts";
import { callerOf, guard } from "./auth/guard.ts";
import { answerDelta } from "./delta-answer.ts";
import { shown } from "./excess.ts";
import type { Front } from "./front.ts";
import { legacyRoutes } from "./legacy-routes.ts";
import type { Refused } from "./outcome.ts";
import { answerPoll } from "./poll.ts";
import { createProof } from "./proof.ts";
import { bodyResponse, problem } from "./responses.ts";
import { answerSecret, secretResponse } from "./secret-answer.ts";

/** The HTTP front, from the store alone. Errors never have status 200, so no Envoy takes one for an empty answer. */
export function frontApp(front: Front): Hono {
  const app = new Hono();
  app.use(guard(front.authentication));

  // A parameter rather than the path itself: it is decoded, so that `%3A` is a colon too.
  app.post("/v3/:call", async (c) => {
    const call = c.req.param("call");
    const asked = {
      caller: callerOf(c),
      patienceMs: Number(c.req.header("x-envoy-expected-rq-timeout-ms")) || 0,
      signal: c.req.raw.signal,
    };
    if (call === "discovery:secrets") return secretResponse(await answerSecret(front, c, asked));
    const [verb, name] = call.split(":");
    const type = resourceTypes.find((known) => known === name);
    if (type === undefined || (verb !== "discovery" && verb !== "delta"))
      return problem(404, `there is no ${shown(call)} here`);
    const request = { ...asked, type };
    const shape = c.req.query("shape") === "poll" ? "poll" : "stream";
    const answer =
      verb === "delta" ? await answerDelta(front, c, { ...request, shape }) : await answerPoll(front, c, request);
    switch (answer.kind) {
      case "unchanged":
        return new Response(undefined, { status: 304 });
      case "refused":
        // What is left of a body that was not read would otherwise be read, and thrown away, before the next request.
        return problem(answer.status, answer.reason, isUnread(answer) ? { connection: "close" } : {});
      case "changed":
        return bodyResponse(answer.body);
      default:
        return unreachable(answer);
    }
  });

  const proof = createProof(front);
  app.get("/v3/head", async (c) => {
    const head = await front.heads.current();
    return head === undefined ? problem(503, "nothing was published yet") : c.json(head);
  });

  app.get("/v3/blobs/:hash", async (c) => {
    const text = await proof.blob(c.req.param("hash"));
    return text === undefined
      ? problem(404, "there is no such blob here")
      : c.body(text, 200, { "content-type": "application/json" });
  });

  app.get("/healthz", async (c) => {
    const head = await front.heads.current();
    if (head === undefined) return problem(503, "nothing was published yet");
    const { warnings, ...health } = await front.heads.health();
    const { generation, publication } = head;
    return c.json({ generation, publication, ...health, ...(warnings.length === 0 ? {} : { warnings }) });
  });

  app.get("/metrics", async (c) => {
    const metrics = await front.metrics.render?.();
    if (metrics === undefined) return problem(404, "no metrics are kept here");
    return c.body(metrics.text, 200, { "content-type": metrics.contentType });
  });

  app.get("/refusals", async (c) => c.json({ refusals: await front.explainRefusals() }));

  app.get("/strangers", (c) => c.json({ strangers: front.strangers.standing() }));

  const legacy = legacyRoutes(front);
  for (const path of ["/v1/*", "/cache_stats", "/cache_stats/", "/cache_stats_delete", "/cache_stats_delete/"]) {
    app.all(path, (c) => legacy.fetch(c.req.raw));
  }

  app.notFound((c) => problem(404, `there is no ${c.req.method} ${shown(c.req.path)} here`));
  app.onError((cause) => {
    front.onError(cause);
    // A store that fails says so with a PortolanError. Anything else is a mistake of ours, and no store is to blame.
    if (cause instanceof PortolanError) return problem(503, "the store cannot be read");
    return problem(500, "an error of Portolan's own; its log has more");
  });
  return app;
}

/** Whether there may be more of the body than was read. */
const isUnread = ({ status, outcome }: Refused): boolean => status === 413 || outcome === "busy";
