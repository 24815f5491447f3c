/** Follows requests in the browser, where the front does not: a file of its own, loaded when somebody asks. */

import type { ApiAnswers } from "../front/api/schema/described.ts";
import type { Traced } from "../front/api/schema/trace.ts";
import { headersIn, toldTrace } from "../front/tracing/told.ts";
import { tracer } from "../front/tracing/tracer.ts";
import { ask, type Reply } from "./ask.ts";

/** What the page's form says, as `/api/trace` takes it. */
export type Followed = Readonly<
  Record<"node" | "url", string> & Partial<Record<"method" | "headers" | "direction" | "root", string | undefined>>
>;

/** As what `main.tsx` has loaded sees this file. */
export interface FollowModule {
  readonly follow: typeof follow;
}

/** Resources on a page of the API. */
const pageLength = 200;

/** Characters of resources that are read for one request. */
const maxText = 32 * 1024 * 1024;

/** As `/api/trace` has it. */
const shape = "stream";

const types = ["listeners", "routes", "clusters", "endpoints"] as const;

/** The way of a request through what this front serves a node, decision by decision. */
export async function follow(asked: Followed, signal: AbortSignal): Promise<Reply<Traced>> {
  const served = await readServed(asked, signal);
  if (served.kind === "problem") return served;
  const { root, classId, texts, from } = served.value;
  const { url, method = "GET", headers = "", direction } = asked;
  const answer = tracer.trace(texts, { url, method, headers: headersIn(headers), direction, isMutual: false });
  if (answer.kind === "refused") return { kind: "problem", status: 400, detail: answer.reason };
  const told = toldTrace(answer, ({ type, name }) => ({ from: from.get(`${type}/${name}`) ?? [], causes: [] }));
  return { kind: "answer", value: { ...told, root, class: classId } };
}

interface Served {
  readonly root: string;
  readonly classId: string;
  readonly texts: Readonly<Record<(typeof types)[number], readonly string[]>>;
  /** Objects behind a resource, by `type/name`. */
  readonly from: ReadonlyMap<string, readonly string[]>;
}

/** All pages are of one version, the one that the first is of. */
async function readServed({ node, root: wanted }: Followed, signal: AbortSignal): Promise<Reply<Served>> {
  const texts: Record<(typeof types)[number], string[]> = { listeners: [], routes: [], clusters: [], endpoints: [] };
  const from = new Map<string, readonly string[]>();
  let [root, classId, left] = [wanted, "", maxText];
  for (const type of types) {
    for (let after: string | undefined = ""; after !== undefined; ) {
      const reply: Reply<ApiAnswers["resources"]> = await ask(
        "resources",
        { node, shape, root, type, after, texts: "true", limit: pageLength },
        signal,
      );
      if (reply.kind === "problem") return reply;
      const page: ApiAnswers["resources"] = reply.value;
      [root, classId, after] = [page.root, page.class, page.next];
      for (const { name, from: objects, text } of page.resources) {
        const whole = text === undefined ? await readLong({ node, root: page.root, type, name }, signal) : found(text);
        if (whole.kind === "problem") return whole;
        texts[type].push(whole.value);
        from.set(`${type}/${name}`, objects);
        left -= whole.value.length;
      }
      if (left < 0)
        return {
          kind: "problem",
          status: 413,
          detail: "this node has more than a browser should read; `portolan trace` does",
        };
    }
  }
  return found({ root: root ?? "", classId, texts, from });
}

const found = <T>(value: T) => ({ kind: "answer", value }) as const;

/** A text that is too long for a list, part by part. */
async function readLong(
  whose: Readonly<Record<"node" | "root" | "type" | "name", string>>,
  signal: AbortSignal,
): Promise<Reply<string>> {
  let text = "";
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const reply: Reply<ApiAnswers["resource"]> = await ask("resource", { ...whose, shape, offset }, signal);
    if (reply.kind === "problem") return reply;
    text += reply.value.text;
    offset = reply.value.next;
  }
  return found(text);
}
