import type { Context } from "hono";
import { Hono } from "hono/tiny";
import { readBody } from "../../limits/read-body.ts";
import { callerOf } from "../auth/guard.ts";
import type { Front } from "../front.ts";
import { noRoomForAnswer } from "../polls/outcome.ts";
import { problem, sentOnce } from "../polls/responses.ts";
import type { Answered, Asked } from "./asked.ts";
import { createMembersOfRoots } from "./class-members.ts";
import { answerClass, answerClasses } from "./classes.ts";
import { answerDiagnostics, createDiagnosticLists } from "./diagnostics.ts";
import { answerDiff, createDiffs } from "./diff.ts";
import { answerHistory } from "./history.ts";
import { answerLookups } from "./lookups.ts";
import { answerMesh, createMeshOfRoots } from "./mesh/calls.ts";
import { answerMeshServices } from "./mesh/services.ts";
import { answerMove, movesHere } from "./moves.ts";
import { answerNodes, answerTrouble } from "./nodes.ts";
import { answerOverview } from "./overview.ts";
import { type ApiName, apiPaths } from "./paths.ts";
import { answerResourceDiff } from "./resource-diff.ts";
import { answerResource, answerResources } from "./resources.ts";
import type { ApiAnswers } from "./schema/described.ts";
import { answerTrace } from "./trace-request.ts";
import { wrongQuery } from "./wrong-query.ts";

type Handlers = { readonly [Name in ApiName]: (asked: Asked) => Promise<Answered<ApiAnswers[Name]>> };

/** What the API remembers of versions, in bytes, besides the blobs that its reader keeps. */
const rememberedBytes = 16 * 1024 * 1024;

/** The API that the console reads, and whoever else: `/api/…`. Everything in it is for operators. */
export function apiApp(front: Front): Hono {
  const browser = { heads: front.heads, reader: front.browsing, nodes: front.nodes };
  const lists = createDiagnosticLists(browser.reader, rememberedBytes / 4, front.analysis);
  const members = createMembersOfRoots(browser.reader, rememberedBytes / 4);
  const meshes = createMeshOfRoots(browser, members, rememberedBytes / 8);
  const diffs = createDiffs(browser, members, rememberedBytes / 4);
  const handlers: Handlers = {
    overview: () =>
      answerOverview(front, browser, lists, {
        moves: movesHere(front),
        isTracing: front.loadTracer !== undefined,
      }),
    history: (asked) => answerHistory(browser, asked),
    diagnostics: (asked) => answerDiagnostics(browser, lists, asked),
    classes: (asked) => answerClasses(browser, members, asked),
    oneClass: (asked) => answerClass(browser, members, asked),
    resources: (asked) => answerResources(browser, asked),
    resource: (asked) => answerResource(browser, asked),
    diff: (asked) => answerDiff(browser, diffs, asked),
    resourceDiff: (asked) => answerResourceDiff(browser, asked),
    nodes: (asked) => answerNodes(front, browser, asked),
    trouble: (asked) => answerTrouble(front, asked),
    lookups: (asked) => answerLookups(front, asked),
    mesh: (asked) => answerMesh(browser, meshes, asked),
    meshServices: (asked) => answerMeshServices(browser, members, asked),
    trace: (asked) => answerTrace(browser, front, asked),
    move: (asked) => answerMove(front, asked),
  };
  const app = new Hono();
  let underWay = 0;
  const answer = async (c: Context, handler: Handlers[ApiName]) => {
    if (underWay >= front.limits.apiCalls) return problem(503, "too many look around at this moment");
    underWay += 1;
    try {
      return toResponse(front, await handler(askedOf(c)));
    } finally {
      underWay -= 1;
    }
  };
  for (const name of namesOf(handlers)) {
    const { method, path, query } = apiPaths[name];
    app.on(method.toUpperCase(), path, (c) => {
      const wrong = wrongQuery(path, c.req.queries(), query);
      return wrong === undefined ? answer(c, handlers[name]) : problem(400, wrong, { "cache-control": "no-store" });
    });
  }
  return app;
}

function namesOf(handlers: Handlers): readonly ApiName[] {
  const isName = (name: string): name is ApiName => name in handlers;
  return Object.keys(apiPaths).filter(isName);
}

function askedOf(c: Context): Asked {
  return {
    caller: callerOf(c),
    value: (name) => c.req.param(name) ?? c.req.query(name),
    header: (name) => c.req.header(name),
    body: (limits) => readBody(c, limits),
  };
}

/** Nobody on the way keeps an answer, and no page of another origin gets one. */
const headers = {
  "content-type": "application/json",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
};

function toResponse({ limits, answers }: Front, answered: Answered<object>): Response {
  if (answered.kind === "refused") return problem(answered.status, answered.reason, { "cache-control": "no-store" });
  const bytes = new TextEncoder().encode(`${JSON.stringify(answered.value)}\n`);
  if (bytes.length > limits.apiBytes) return problem(400, "the answer is too long: ask for less, with limit");
  const leave = answers.tryEnter(bytes.length);
  if (leave === undefined) return problem(503, noRoomForAnswer);
  return sentOnce(bytes, { status: 200, headers }, leave);
}
