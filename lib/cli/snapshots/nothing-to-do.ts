import { NothingToDo } from "../../base/diagnostic.ts";
import type { Terminal } from "../terminal.ts";

/** Does something, or says that there is nothing to do, which is no failure: a script may ask twice. */
export async function unlessDone(
  terminal: Terminal,
  { json = false }: { readonly json?: boolean },
  act: () => Promise<void>,
): Promise<void> {
  try {
    await act();
  } catch (cause) {
    if (!(cause instanceof NothingToDo)) throw cause;
    terminal.out(json ? JSON.stringify({ done: false, reason: cause.message }) : cause.message);
  }
}
