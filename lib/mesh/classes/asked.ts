import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { Question } from "../../incremental/tracked-query.ts";
import type { AskedOfProxy, ProxyAnswers } from "../views/proxies/proxy-answers.ts";

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

interface Askings {
  readonly asked: readonly (readonly AskedOfProxy[])[];
}

/** All that was asked of some proxies. */
export const allAsked = query(
  "all that was asked",
  { asked: "elements" },
  ({ asked }: Askings, memo: Memo): AskedOfProxies => {
    const byNamespace = new Map<string, Map<string, Question>>();
    // Proxies share what was selected for them, and with it the lists.
    const seen = new Map<string, Set<readonly Question[]>>();
    for (const { namespace, questions } of asked.flat()) {
      const seenHere = seen.get(namespace) ?? new Set();
      if (seenHere.has(questions)) continue;
      seen.set(namespace, seenHere.add(questions));
      const here = byNamespace.get(namespace) ?? new Map<string, Question>();
      const texts = textsOf(memo, { questions });
      for (const [at, question] of questions.entries()) {
        const text = texts[at] ?? "";
        if (!here.has(text)) here.set(text, question);
      }
      byNamespace.set(namespace, here);
    }
    return { byNamespace, size: sizeOf(byNamespace) };
  },
);

const sizeOf = (byNamespace: AskedOfProxies["byNamespace"]): number =>
  [...byNamespace.values()].reduce((sum, questions) => sum + questions.size, 0);

/** Both together; the first if the second has nothing more. */
export function united(known: AskedOfProxies, more: AskedOfProxies): AskedOfProxies {
  if (known === more || more.size === 0) return known;
  if (known.size === 0) return more;
  const byNamespace = new Map(known.byNamespace);
  for (const [namespace, questions] of more.byNamespace)
    byNamespace.set(namespace, new Map([...(known.byNamespace.get(namespace) ?? []), ...questions]));
  const size = sizeOf(byNamespace);
  return size === known.size ? known : { byNamespace, size };
}

const textsOf = query(
  "texts of questions",
  ({ questions }: { readonly questions: readonly Question[] }): readonly string[] => questions.map(questionText),
);
