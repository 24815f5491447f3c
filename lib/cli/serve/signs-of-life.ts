/** A child process, as far as it is asked. */
export interface WatchedProcess {
  readonly connected: boolean;
  send(message: string, sent: () => void): boolean;
  on(event: "message", hear: () => void): unknown;
  once(event: "exit", hear: () => void): unknown;
}

/** How often a process is asked for a sign of life. */
export const signEveryMs = 10_000;

/** So many questions without an answer, and it counts as dead: a process that is only busy has answered by then. */
const maxUnanswered = 3;

/** What it is asked; whoever is asked says anything. */
export const askForSign = "alive?";

/**
 * Asks a process for signs of life over its channel, from the first that it gives: while it starts it is not asked. Questions count, and
 * not time: while this process is stopped or busy, none are asked.
 *
 * @param onSilent called once, when it has not answered
 * @returns ends the questions
 */
export function watchSigns(
  child: WatchedProcess,
  onSilent: (silentMs: number) => void,
  everyMs = signEveryMs,
): () => void {
  let unanswered: number | undefined;
  child.on("message", () => {
    unanswered = 0;
  });
  const timer = setInterval(() => {
    // One that closes its channel ends by itself.
    if (unanswered === undefined || !child.connected) return;
    if (unanswered >= maxUnanswered) {
      clearInterval(timer);
      onSilent(unanswered * everyMs);
      return;
    }
    unanswered += 1;
    child.send(askForSign, () => {});
  }, everyMs);
  timer.unref();
  const end = () => clearInterval(timer);
  child.once("exit", end);
  return end;
}
