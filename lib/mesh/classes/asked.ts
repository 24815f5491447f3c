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

/** All that was asked, with what else was; the same object if nothing is new. */
export function withQuestions(
  asked: AskedOfProxies,
  more: Iterable<{ readonly namespace: string; readonly questions: readonly Question[] }>,
): AskedOfProxies {
  const changed = new Map<string, Map<string, Question>>();
  let { size } = asked;
  for (const { namespace, questions } of more) {
    for (const question of questions) {
      const text = questionText(question);
      if ((changed.get(namespace) ?? asked.byNamespace.get(namespace))?.has(text) === true) continue;
      const own = changed.get(namespace) ?? new Map(asked.byNamespace.get(namespace));
      changed.set(namespace, own.set(text, question));
      size += 1;
    }
  }
  return changed.size === 0 ? asked : { byNamespace: new Map([...asked.byNamespace, ...changed]), size };
}
