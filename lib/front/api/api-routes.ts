import type { BodyReader } from "../../limits/read-body.ts";
import { callerOf } from "../auth/admit.ts";
import type { Front } from "../front.ts";
import { noRoomForAnswer } from "../polls/outcome.ts";
import type { BodyServices } from "../polls/poll.ts";
import { type Answer, problem, wholeAnswer } from "../requests/answer.ts";
import { plain, type Asked as Request, type Route } from "../requests/routes.ts";
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
import { answerOverview, type OverviewServices } from "./overview.ts";
import { type ApiName, apiPaths } from "./paths.ts";
import { answerResourceDiff } from "./resource-diff.ts";
import { answerResource, answerResources } from "./resources.ts";
import type { ApiAnswers } from "./schema/described.ts";
import { answerTrace } from "./trace-request.ts";
import { wrongQuery } from "./wrong-query.ts";

type Handlers = { readonly [Name in ApiName]: (asked: Asked) => Promise<Answered<ApiAnswers[Name]>> };

/** What the API remembers of versions, in bytes, besides the blobs that its reader keeps. */
const rememberedBytes = 16 * 1024 * 1024;

/** What the API answers from. */
export type ApiServices = OverviewServices &
  BodyServices &
  Pick<Front, "heads" | "analysis" | "loadTracer" | "findCauses" | "moves" | "onError" | "lookups" | "answers">;

/** The API that the console reads, and whoever else: `/api/…`. Everything in it is for operators. */
export function apiRoutes(front: ApiServices): readonly Route[] {
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
  let underWay = 0;
  const answer = async (request: Request, handler: Handlers[ApiName]): Promise<Answer> => {
    if (underWay >= front.limits.apiCalls) return problem(503, "too many look around at this moment");
    underWay += 1;
    try {
      return toAnswer(front, await handler(askedOf(request)));
    } finally {
      underWay -= 1;
    }
  };
  return namesOf(handlers).map((name) => {
    const { method, path, query } = apiPaths[name];
    return {
      method: method === "post" ? "POST" : "GET",
      path,
      to: plain((request) => {
        const wrong = wrongQuery(path, valuesOf(request.query), query);
        return wrong === undefined
          ? answer(request, handlers[name])
          : problem(400, wrong, { "cache-control": "no-store" });
      }),
    };
  });
}

function namesOf(handlers: Handlers): readonly ApiName[] {
  const isName = (name: string): name is ApiName => name in handlers;
  return Object.keys(apiPaths).filter(isName);
}

function askedOf(asked: Request): Asked {
  const { params, query, request } = asked;
  const body: BodyReader = (limits) => new Promise((resolve) => request.body(limits, resolve));
  return {
    caller: callerOf(asked),
    value: (name) => params[name] ?? query.get(name) ?? undefined,
    header: request.header,
    body,
  };
}

/** Names of a query with all their values. */
const valuesOf = (query: URLSearchParams): ReadonlyMap<string, readonly string[]> =>
  new Map([...new Set(query.keys())].map((name) => [name, query.getAll(name)]));

/** Nobody on the way keeps an answer, and no page of another origin gets one. */
const headers = {
  "content-type": "application/json",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
};

function toAnswer({ limits, answers }: Pick<Front, "limits" | "answers">, answered: Answered<object>): Answer {
  if (answered.kind === "refused") return problem(answered.status, answered.reason, { "cache-control": "no-store" });
  const bytes = new TextEncoder().encode(`${JSON.stringify(answered.value)}\n`);
  if (bytes.length > limits.apiBytes) return problem(400, "the answer is too long: ask for less, with limit");
  const leave = answers.tryEnter(bytes.length);
  if (leave === undefined) return problem(503, noRoomForAnswer);
  return wholeAnswer(bytes, { status: 200, headers }, leave);
}
