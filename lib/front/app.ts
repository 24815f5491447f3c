import { apiRoutes } from "./api/api-routes.ts";
import { callerOf } from "./auth/admit.ts";
import type { Front } from "./front.ts";
import { legacyRoutes } from "./legacy-routes.ts";
import { type NodesFront, refusalsKnown, statesOf, unmatchedKnown } from "./nodes/front-nodes.ts";
import { callRoutes } from "./polls/call-routes.ts";
import { noRoomForAnswer } from "./polls/outcome.ts";
import { probeRoutes } from "./probes.ts";
import { type Answer, jsonAnswer, problem, type Sooner, wholeAnswer } from "./requests/answer.ts";
import { fetchAnswers } from "./requests/fetch-adapter.ts";
import { createRequests, type Requests } from "./requests/requests.ts";
import { type Asked, plain, type Route } from "./requests/routes.ts";
import { consoleRoutes, type LoadConsole } from "./shell/console-routes.ts";
import { createVerificationBlobs } from "./verification-blobs.ts";
import { moduleRoute } from "./wasm-modules.ts";

/** The front as an app: Node's servers hand it their requests by `nodeAnswers`, everybody else by `fetch`. */
export interface FrontApp extends Requests {
  /** @param platform what the platform says of the request beside it, as Lambda's event */
  fetch(request: Request, platform?: unknown): Promise<Response>;
  /** The same for a path or a URL, without a server. */
  request(path: string, init?: RequestInit): Promise<Response>;
}

/**
 * The HTTP front, from the store alone.
 *
 * @param loadConsole the files of the console; absent where others serve them, as at the edge
 */
export function frontApp(front: Front, loadConsole?: LoadConsole): FrontApp {
  const requests = createRequests(front);
  requests.add([
    ...probeRoutes(front),
    ...(loadConsole === undefined ? [] : consoleRoutes(loadConsole)),
    ...callRoutes(front),
    ...stateRoutes(front),
    ...apiRoutes(front),
    ...legacyRoutes(front),
  ]);
  const fetch = fetchAnswers(requests);
  const urlOf = (path: string) => (path.startsWith("/") ? `http://localhost${path}` : path);
  return { ...requests, fetch, request: (path, init) => fetch(new Request(urlOf(path), init)) };
}

const nothingPublished = (): Answer => problem(503, "nothing was published yet");

/** What a front has and knows: HEAD, blobs, its health, its nodes. */
function stateRoutes(
  front: NodesFront &
    Pick<Front, "heads" | "reader" | "answers" | "modules" | "readiness" | "metrics" | "nodes" | "limits">,
): readonly Route[] {
  const verificationBlobs = createVerificationBlobs(front);
  const get = (path: string, answer: (asked: Asked) => Sooner<Answer>): Route => ({
    method: "GET",
    path,
    to: plain(answer),
  });
  return [
    get("/v3/head", async () => {
      const head = await front.heads.current();
      return head === undefined ? nothingPublished() : jsonAnswer(head);
    }),
    get("/v3/blobs/:hash", async (asked) => {
      const blob = await verificationBlobs.blob(asked.params.hash ?? "", callerOf(asked));
      if (blob === undefined) return problem(404, "there is no such blob here");
      const leave = front.answers.tryEnter(blob.length);
      if (leave === undefined) return problem(503, noRoomForAnswer);
      // Its name is its content's. Who may read it was asked, so whoever keeps it keeps it for the one who asked.
      const headers = { "content-type": "application/json", "cache-control": "private, max-age=31536000, immutable" };
      return wholeAnswer(blob, { status: 200, headers }, leave);
    }),
    moduleRoute(front.modules),
    get("/healthz", async () => {
      const head = await front.heads.current();
      if (head === undefined) return nothingPublished();
      const readiness = await front.readiness();
      if (!readiness.isReady && !readiness.servesOlder) return problem(503, readiness.reason);
      const { warnings: ofHead, ...health } = await front.heads.health();
      const older = readiness.isReady ? [] : [`${readiness.reason}; the snapshot before it is served`];
      const warnings = [...older, ...ofHead];
      const { generation, publication } = head;
      return jsonAnswer({ generation, publication, ...health, ...(warnings.length === 0 ? {} : { warnings }) });
    }),
    get("/metrics", async () => {
      const metrics = await front.metrics.render?.();
      if (metrics === undefined) return problem(404, "no metrics are kept here");
      return { status: 200, headers: { "content-type": metrics.contentType }, body: metrics.text };
    }),
    get("/refusals", async () => jsonAnswer({ refusals: await refusalsKnown(front) })),
    get("/strangers", async () => jsonAnswer({ strangers: await unmatchedKnown(front) })),
    get("/status/nodes", ({ query }) => nodesAnswer(front, query)),
  ];
}

async function nodesAnswer(
  front: NodesFront & Pick<Front, "heads" | "nodes" | "limits">,
  query: URLSearchParams,
): Promise<Answer> {
  const { statusNodes } = front.limits;
  const limit = Math.min(Number(query.get("limit") ?? statusNodes) || 0, statusNodes);
  const report = await front.nodes.report?.({ part: query.get("node") ?? "", limit });
  if (report === undefined) return problem(404, "no status of nodes is kept here");
  const head = await front.heads.current();
  return jsonAnswer({ ...report, nodes: head === undefined ? [] : await statesOf(front, head, report.nodes) });
}
