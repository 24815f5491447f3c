import { useEffect, useState } from "preact/hooks";
import type { ApiName } from "../front/api/paths.ts";
import type { ApiAnswers } from "../front/api/schema/described.ts";
import { ask, type Reply } from "./ask.ts";

/** What is known of an answer; while another one is awaited, the last one stays. */
export interface Awaited<T> {
  readonly reply: Reply<T> | undefined;
  readonly isLoading: boolean;
  readonly again: () => void;
}

/** Asks whenever something else is to be asked, and every so often while the page is looked at. */
export function useAnswer<Name extends ApiName>(
  name: Name,
  values: Readonly<Record<string, string | number | undefined>> = {},
  everyMs = 0,
): Awaited<ApiAnswers[Name]> {
  const [reply, setReply] = useState<Reply<ApiAnswers[Name]> | undefined>();
  const [isLoading, setLoading] = useState(true);
  const [turn, setTurn] = useState(0);
  const question = JSON.stringify(values);
  useEffect(() => {
    const leaving = new AbortController();
    const load = () =>
      ask(name, JSON.parse(question), leaving.signal).then(
        (next) => {
          setReply(next);
          setLoading(false);
        },
        () => {},
      );
    setLoading(true);
    load();
    const timer = everyMs > 0 ? setInterval(() => document.hidden || load(), everyMs) : undefined;
    return () => {
      leaving.abort();
      clearInterval(timer);
    };
  }, [name, question, everyMs, turn]);
  return { reply, isLoading, again: () => setTurn(turn + 1) };
}
