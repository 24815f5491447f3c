import type { HeldType } from "./resources.ts";

/** Why a long poll is ended that reports something outdated. */
const outdated = "a newer request replaces this one";

/** Long polls of a front, at most one per type. */
export interface LongPolls {
  /** Runs a poll that `replace` and `endAll` end. @returns undefined when it was replaced @throws what the poll fails with */
  run<T>(type: HeldType, poll: (signal: AbortSignal) => Promise<T>): Promise<T | undefined>;
  /** Ends the poll of a type: what it reports of Envoy is outdated, and no two polls may report different things. */
  replace(type: HeldType): void;
  endAll(): void;
}

export function createLongPolls(): LongPolls {
  const open = new Map<HeldType, AbortController>();
  return {
    async run(type, poll) {
      const controller = new AbortController();
      open.set(type, controller);
      try {
        return await poll(controller.signal);
      } catch (cause) {
        if (controller.signal.reason !== outdated) throw cause;
        return undefined;
      } finally {
        if (open.get(type) === controller) open.delete(type);
      }
    },
    replace: (type) => open.get(type)?.abort(outdated),
    endAll() {
      for (const controller of open.values()) controller.abort();
    },
  };
}
