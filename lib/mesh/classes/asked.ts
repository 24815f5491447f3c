import type { Memo } from "../memo/memo.ts";
import { step } from "../memo/step.ts";
import type { Question } from "../memo/traced-step.ts";
import type { ProxyAnswers } from "../views/proxy-answers.ts";

/** What selecting asked the proxies of each namespace. */
export interface AskedOfProxies {
  /** By namespace, then by the text of the question. */
  readonly byNamespace: ReadonlyMap<string, ReadonlyMap<string, Question>>;
  /** Questions in all. */
  readonly size: number;
}

export const nothingAsked: AskedOfProxies = { byNamespace: new Map(), size: 0 };

/** One text for each question. */
function questionText({ field, args }: Question): string {
  return args === undefined ? String(field) : `${String(field)} ${args.map(String).join(" ")}`;
}

export function answerTo(node: ProxyAnswers, { field, args }: Question): unknown {
  const value: unknown = Reflect.get(node, field);
  return typeof value === "function" ? Reflect.apply(value, node, args ?? []) : value;
}

/** What was asked of one proxy, by part of what was selected for it. */
export interface AskedOfProxy {
  readonly namespace: string;
  readonly questions: readonly (readonly Question[])[];
}

/** All that was asked, with what else was; the same object if nothing is new. */
export function withQuestions(asked: AskedOfProxies, more: Iterable<AskedOfProxy>, memo: Memo): AskedOfProxies {
  const changed = new Map<string, Map<string, Question>>();
  // Proxies share what was selected for them, and with it the lists.
  const seen = new Map<string, Set<readonly Question[]>>();
  let { size } = asked;
  for (const { namespace, questions: lists } of more) {
    const seenHere = seen.get(namespace) ?? new Set();
    seen.set(namespace, seenHere);
    for (const questions of lists) {
      if (seenHere.has(questions)) continue;
      seenHere.add(questions);
      for (const [text, question] of byText(memo, { questions })) {
        if ((changed.get(namespace) ?? asked.byNamespace.get(namespace))?.has(text) === true) continue;
        const own = changed.get(namespace) ?? new Map(asked.byNamespace.get(namespace));
        changed.set(namespace, own.set(text, question));
        size += 1;
      }
    }
  }
  return changed.size === 0 ? asked : { byNamespace: new Map([...asked.byNamespace, ...changed]), size };
}

const byText = step(
  "questions by their texts",
  { questions: "identity" },
  ({ questions }: { readonly questions: readonly Question[] }): ReadonlyMap<string, Question> =>
    new Map(questions.map((question) => [questionText(question), question])),
);
