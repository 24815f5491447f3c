import { type Admitted, admit, refusedAnswer } from "../auth/admit.ts";
import type { Authentication } from "../auth/authentication.ts";
import type { Caller } from "../auth/caller.ts";
import { shown } from "../excess.ts";
import { type Answer, problem, type Sooner, withoutBody } from "./answer.ts";
import { failure, type OnError } from "./failure.ts";
import type { FrontRequest } from "./front-request.ts";
import { createRouteTable, type Found, type Handler, type Route } from "./routes.ts";

/** The front's answers to requests: the same for every server that they come through. */
export interface Requests {
  /** Answers a request. `give` is called once, at once where nothing has to be waited for. */
  answer(request: FrontRequest, give: (answer: Answer) => void): void;
  /** Answers more paths. */
  add(routes: readonly Route[]): void;
  /** Told of what went wrong and cost somebody an answer. */
  readonly onError: OnError;
}

/**
 * Every request takes the same way: its path is looked up, its sender is asked for (`auth/admit.ts`), its body is read within the limits of
 * what answers there, and that answers. Errors never have status 200, so no Envoy takes one for an empty answer.
 */
export function createRequests({
  authentication,
  onError,
}: {
  readonly authentication: Authentication;
  readonly onError: OnError;
}): Requests {
  const table = createRouteTable();

  function run(request: FrontRequest, found: Found, caller: Caller | undefined, give: Give, fail: OnError): void {
    const { path, params, query } = found;
    const handler = handlerOf(found, request);
    const asked = { request, caller, path, params, query };
    if (handler === undefined) give(problem(404, `there is no ${request.method} ${shown(path)} here`));
    else if (handler.kind === "plain") goOn(() => handler.answer(asked), give, fail);
    else
      request.body(handler.limits, (body) => {
        const isLeft = body.kind === "refused" && (body.status === 413 || body.status === 503);
        goOn(() => handler.answer(asked, body), isLeft ? (answer) => give(closing(answer)) : give, fail);
      });
  }

  return {
    add: table.add,
    onError,
    answer(request, give) {
      const isHead = request.method === "HEAD";
      const send: Give = isHead ? (answer) => give(withoutBody(answer)) : give;
      const fail = (cause: unknown) => send(failure(onError, cause));
      const found = table.find(isHead ? "GET" : request.method, request.target);
      if (found === undefined) {
        send(problem(400, "the path cannot be read"));
        return;
      }
      const goOnAs = (who: Admitted) =>
        who.kind === "refused" ? send(refusedAnswer(who)) : run(request, found, who.caller, send, fail);
      const { scope } = found;
      if (scope === undefined) run(request, found, undefined, send, fail);
      else goOn(() => admit(authentication, request, scope), goOnAs, fail);
    },
  };
}

type Give = (answer: Answer) => void;

function handlerOf({ routes }: Found, request: FrontRequest): Handler | undefined {
  const [first] = routes;
  if (first?.takes === undefined) return first?.to;
  const contentType = request.header("content-type") ?? "";
  return routes.find(({ takes }) => takes === undefined || takes(contentType))?.to;
}

/** What is left of a body that was not read would otherwise be read, and thrown away, before the next request. */
const closing = (answer: Answer): Answer => ({ ...answer, headers: { ...answer.headers, connection: "close" } });

/** Goes on with something at once if it is there, else when it is. */
function goOn<T>(ask: () => Sooner<T>, go: (what: T) => void, fail: OnError): void {
  try {
    const what = ask();
    if (what instanceof Promise) what.then(go).catch(fail);
    else go(what);
  } catch (cause) {
    fail(cause);
  }
}
