/** Follows requests in the browser, where the front does not: a file of its own, loaded when somebody asks. */

import type { Traced } from "../front/api/schema/trace.ts";
import { type AskResources, servedResources } from "../front/api/served-resources.ts";
import { fromAt, headersIn, traceAnswer } from "../front/tracing/trace-answer.ts";
import { tracer } from "../front/tracing/tracer.ts";
import { ask, type Problem, type Reply } from "./ask.ts";

/** What the page's form says, as `/api/trace` takes it. */
export type Followed = Readonly<
  Record<"node" | "url", string> &
    Partial<Record<"method" | "headers" | "direction" | "root" | "from" | "principal" | "claims", string | undefined>>
>;

/** As what `main.tsx` has loaded sees this file. */
export interface FollowModule {
  readonly follow: typeof follow;
}

/** Characters of resources that are read for one request. */
const maxText = 32 * 1024 * 1024;

/** As `/api/trace` has it. */
const shape = "stream";

const types = ["listeners", "routes", "clusters", "endpoints", "name_tables"] as const;

/** The way of a request through what this front serves a node, decision by decision. */
export async function follow(asked: Followed, signal: AbortSignal): Promise<Reply<Traced>> {
  const served = await readServed(asked, signal);
  if (served.kind === "problem") return served;
  const { root, classId, texts, from } = served.value;
  const { url, method = "GET", headers = "", direction, from: client = "", principal = "", claims = "" } = asked;
  const answer = tracer.trace(
    { ...texts, nameTables: texts.name_tables },
    {
      url,
      method,
      headers: headersIn(headers),
      direction,
      isMutual: false,
      from: client,
      principal,
      claims,
    },
  );
  if (answer.kind === "refused") return { kind: "problem", status: 400, detail: answer.reason };
  const told = traceAnswer(answer, (place) => ({
    from: fromAt(place, from.get(`${place.type}/${place.name}`) ?? []),
    causes: [],
  }));
  return { kind: "answer", value: { ...told, root, class: classId } };
}

interface Served {
  readonly root: string;
  readonly classId: string;
  readonly texts: Readonly<Record<(typeof types)[number], readonly string[]>>;
  /** Objects behind a resource, by `type/name`. */
  readonly from: ReadonlyMap<string, readonly string[]>;
}

async function readServed({ node, root: wanted }: Followed, signal: AbortSignal): Promise<Reply<Served>> {
  const texts: Record<(typeof types)[number], string[]> = {
    listeners: [],
    routes: [],
    clusters: [],
    endpoints: [],
    name_tables: [],
  };
  const from = new Map<string, readonly string[]>();
  let [root, classId, left] = ["", "", maxText];
  const api: AskResources<Problem> = {
    page: (query) => ask("resources", query, signal),
    part: (query) => ask("resource", query, signal),
  };
  for await (const reply of servedResources(api, { node, shape, root: wanted }, types)) {
    if (reply.kind === "problem") return reply;
    const { type, name, text, from: objects } = reply.value;
    ({ root, classId } = reply.value);
    texts[type].push(text);
    from.set(`${type}/${name}`, objects);
    left -= text.length;
    if (left < 0)
      return {
        kind: "problem",
        status: 413,
        detail: "this node's configuration is too large for the browser; use `portolan trace`",
      };
  }
  return { kind: "answer", value: { root, classId, texts, from } };
}
