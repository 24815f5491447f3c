import type { Context } from "hono";
import { Hono } from "hono/tiny";
import { unreachable } from "../config/diagnostic.ts";
import { readBody } from "../limits/read-body.ts";
import { apiApp } from "./api/api-app.ts";
import { callerOf, guard } from "./auth/guard.ts";
import { shown } from "./excess.ts";
import type { Front } from "./front.ts";
import { legacyRoutes } from "./legacy-routes.ts";
import { refusalsKnown, statesOf, strangersKnown } from "./nodes/front-nodes.ts";
import {
  answerCall,
  type DiscoveryCall,
  deltaFetchPath,
  failure,
  isJson,
  noSuchCall,
  patienceMs,
  readCall,
  refusal,
} from "./polls/discovery-call.ts";
import { noRoomForAnswer } from "./polls/outcome.ts";
import { bodyResponse, changedHeaders, problem, sentOnce } from "./polls/responses.ts";
import { probesApp } from "./probes.ts";
import { createProof } from "./proof.ts";
import { consoleFilesApp, type LoadConsole } from "./shell/console-files.ts";
import { mountModules } from "./wasm-modules.ts";

/**
 * The HTTP front, from the store alone. Errors never have status 200, so no Envoy takes one for an empty answer.
 *
 * @param loadConsole the files of the console; absent where others serve them, as at the edge
 */
export function frontApp(front: Front, loadConsole?: LoadConsole): Hono {
  const app = new Hono();
  // Before the guard: a probe has no token to bring.
  app.route("/", probesApp(front));
  app.use(guard(front.authentication));
  if (loadConsole !== undefined) app.route("/", consoleFilesApp(loadConsole));

  async function responseTo(c: Context, call: DiscoveryCall): Promise<Response> {
    const answer = await answerCall(front, call, {
      caller: callerOf(c),
      body: (limits) => readBody(c, limits),
      patienceMs: patienceMs(call, (name) => c.req.header(name)),
      signal: () => c.req.raw.signal,
    });
    switch (answer.kind) {
      case "unchanged":
        return new Response(undefined, { status: 304 });
      case "changed":
        return bodyResponse(answer.body);
      case "refused":
        return refusal(answer);
      case "other":
        return answer.response;
      default:
        return unreachable(answer);
    }
  }

  // A parameter rather than the path itself: it is decoded, so that `%3A` is a colon too.
  app.post("/v3/:call", async (c) => {
    const name = c.req.param("call");
    const call = readCall(name, c.req.query("shape"));
    if (call === undefined) return noSuchCall(name);
    return responseTo(c, call);
  });

  app.post(deltaFetchPath, (c, next) =>
    isJson(c.req.header("content-type") ?? "") ? responseTo(c, { kind: "delta-fetch" }) : next(),
  );

  const proof = createProof(front);
  app.get("/v3/head", async (c) => {
    const head = await front.heads.current();
    return head === undefined ? problem(503, "nothing was published yet") : c.json(head);
  });

  app.get("/v3/blobs/:hash", async (c) => {
    const blob = await proof.blob(c.req.param("hash"), callerOf(c));
    if (blob === undefined) return problem(404, "there is no such blob here");
    const leave = front.answers.tryEnter(blob.length);
    if (leave === undefined) return problem(503, noRoomForAnswer);
    // Its name is its content's. Who may read it was asked, so whoever keeps it keeps it for the one who asked.
    const headers = { ...changedHeaders(blob.length), "cache-control": "private, max-age=31536000, immutable" };
    if (c.req.method !== "HEAD") return sentOnce(blob, { status: 200, headers }, leave);
    // Nobody would read the body of an answer to HEAD, nor let it go.
    leave();
    return new Response(undefined, { headers });
  });

  mountModules(app, front);

  app.get("/healthz", async (c) => {
    const head = await front.heads.current();
    if (head === undefined) return problem(503, "nothing was published yet");
    const readiness = await front.readiness();
    if (!readiness.isReady && !readiness.servesOlder) return problem(503, readiness.reason);
    const { warnings: ofHead, ...health } = await front.heads.health();
    const older = readiness.isReady ? [] : [`${readiness.reason}; the snapshot before it is served`];
    const warnings = [...older, ...ofHead];
    const { generation, publication } = head;
    return c.json({ generation, publication, ...health, ...(warnings.length === 0 ? {} : { warnings }) });
  });

  app.get("/metrics", async (c) => {
    const metrics = await front.metrics.render?.();
    if (metrics === undefined) return problem(404, "no metrics are kept here");
    return c.body(metrics.text, 200, { "content-type": metrics.contentType });
  });

  app.get("/refusals", async (c) => {
    return c.json({ refusals: await refusalsKnown(front) });
  });

  app.get("/strangers", async (c) => {
    return c.json({ strangers: await strangersKnown(front) });
  });

  app.get("/status/nodes", async (c) => {
    const limit = Math.min(Number(c.req.query("limit") ?? front.limits.statusNodes) || 0, front.limits.statusNodes);
    const report = await front.nodes.report?.({ part: c.req.query("node") ?? "", limit });
    if (report === undefined) return problem(404, "no status of nodes is kept here");
    const head = await front.heads.current();
    if (head === undefined) return c.json({ ...report, nodes: [] });
    return c.json({ ...report, nodes: await statesOf(front, head, report.nodes) });
  });

  app.route("/", apiApp(front));

  const legacy = legacyRoutes(front);
  for (const path of ["/v1/*", "/cache_stats", "/cache_stats/", "/cache_stats_delete", "/cache_stats_delete/"]) {
    app.all(path, (c) => legacy.fetch(c.req.raw));
  }

  app.notFound((c) => problem(404, `there is no ${c.req.method} ${shown(c.req.path)} here`));
  app.onError((cause) => failure(front, cause));
  return app;
}
