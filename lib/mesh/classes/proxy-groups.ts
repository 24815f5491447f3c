import { CacheEntries } from "../../incremental/cache-entries.ts";
import { mappedList } from "../../incremental/mapped-list.ts";
import type { Memo } from "../../incremental/memo.ts";
import { objectNumber } from "../../incremental/object-number.ts";
import { plainText } from "../../incremental/plain-text.ts";
import { query } from "../../incremental/query.ts";
import type { Question } from "../../incremental/tracked-query.ts";
import type { Mesh } from "../mesh.ts";
import type { Proxy } from "../proxy/proxy.ts";
import { ProxyAnswers, targetsOfAll } from "../views/proxies/proxy-answers.ts";
import type { ViewColumns } from "../views/view-columns.ts";
import { tracedViewsOf } from "../views/views-of.ts";
import { type AskedOfProxies, allAsked, answerTo, nothingAsked, united } from "./asked.ts";
import { type ClassReads, classReads } from "./class-reads.ts";

/** Proxies with equal answers to all tracked reads: what is selected for the first applies to all. */
export interface ProxyGroup {
  readonly first: Proxy;
  /** Indexes of the proxies, including the first. */
  readonly members: readonly number[];
}

export interface GroupedByAnswers {
  readonly groups: readonly ProxyGroup[];
  /** What is selected for the first of each group. */
  readonly views: ViewColumns;
  readonly reads: ClassReads;
}

/**
 * Groups proxies by their answers to all reads of the selection.
 *
 * What is asked is only known once the views were selected, and that is to be done once a group. So proxies are grouped by what
 * is known to be asked, the views of one of each group are selected, and this goes on until they ask nothing new. Then
 * all members of a group give the same answers to all that their first was asked, so each would have been asked just that: the
 * questions to the firsts are the questions to all, wherever the search began. It begins with what was asked last time.
 */
export function groupByAnswers(mesh: Mesh, allProxies: readonly Proxy[], memo: Memo): GroupedByAnswers {
  let known = askedLast.last(memo, "") ?? nothingAsked;
  for (;;) {
    const groups = proxyGroups(mesh, allProxies, known, memo);
    const { views, asked: askings } = tracedViewsOf(mesh, firstsOf(memo, { groups }), memo, "census");
    const asked = allAsked(memo, { asked: askings });
    const all = united(known, asked);
    if (all === known && asked.size === known.size) {
      askedLast.keep(memo, "", known);
      return { groups, views, reads: readsOf(memo, { asked: known }) };
    }
    // What nobody asks any more is forgotten, once all that is asked is known.
    known = all === known ? asked : all;
  }
}

const firstsOf = query(
  "first of alike proxies",
  ({ groups }: { readonly groups: readonly ProxyGroup[] }): readonly Proxy[] => groups.map(({ first }) => first),
);

const askedLast = new CacheEntries<AskedOfProxies>("asked of proxies");

const readsOf = query("class reads", ({ asked }: { readonly asked: AskedOfProxies }) => classReads(asked));

/** In the order of the first members. */
function proxyGroups(
  { registry }: Mesh,
  allProxies: readonly Proxy[],
  asked: AskedOfProxies,
  memo: Memo,
): readonly ProxyGroup[] {
  const targets = targetsOfAll(memo, "all of a census", { registry, allProxies });
  return groups(memo, { allProxies, answers: answersOfAllProxies(memo, { allProxies, targets, asked }) });
}

const nothingServed: ProxyAnswers["targets"] = [];

/** The answers of each proxy of a census that serves other things, or is asked others. */
const answersOfAllProxies = query("answers of a census", ({ allProxies, targets, asked }: AnswerInputs, memo: Memo) =>
  answersOfAll(
    memo,
    "census",
    allProxies,
    { questions: questionsOf(memo, { asked }) },
    (_proxy, at) => targets[at] ?? nothingServed,
  ),
);

interface AnswerInputs {
  readonly allProxies: readonly Proxy[];
  /** Of each proxy. */
  readonly targets: readonly ProxyAnswers["targets"][];
  readonly asked: AskedOfProxies;
}

/** The answers of each proxy, as a text: proxies of one text have the same. */
const answersOfAll = mappedList(
  "answers of proxies",
  (
    proxy: Proxy,
    targets: ProxyAnswers["targets"],
    { questions: byNamespace }: { readonly questions: QuestionLists },
    memo: Memo,
  ): string => {
    const questions = byNamespace.get(proxy.namespace) ?? nothing;
    if (questions.length === 0) return proxy.namespace;
    const node = new ProxyAnswers(proxy, () => targets, memo);
    // A list, and not what iterates one: ten thousand proxies answer thirty questions each.
    const texts = questions.map((question) => textOfAnswer(answerTo(node, question)));
    return `${proxy.namespace} ${texts.join()}`;
  },
);

/** What is asked of the proxies of each namespace. */
type QuestionLists = ReadonlyMap<string, readonly Question[]>;

const nothing: readonly Question[] = [];

const questionsOf = query(
  "questions of namespaces",
  ({ asked }: { readonly asked: AskedOfProxies }): QuestionLists =>
    new Map(Array.from(asked.byNamespace, ([namespace, questions]) => [namespace, [...questions.values()]])),
);

/** Objects that are answers count by identity. */
const textOfAnswer = (answer: unknown): string =>
  typeof answer === "object" && answer !== null ? `#${objectNumber(answer)}` : plainText(answer);

interface GroupInputs {
  readonly allProxies: readonly Proxy[];
  /** Of each proxy, as a text. */
  readonly answers: readonly string[];
}

const groups = query("alike proxies", ({ allProxies, answers }: GroupInputs): readonly ProxyGroup[] => {
  const found = new Map<string, { readonly first: Proxy; readonly members: number[] }>();
  for (const [position, proxy] of allProxies.entries()) {
    const key = answers[position] ?? "";
    const group = found.get(key);
    if (group === undefined) found.set(key, { first: proxy, members: [position] });
    else group.members.push(position);
  }
  return [...found.values()];
});
