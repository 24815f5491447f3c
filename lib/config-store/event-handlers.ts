import { kindText, PortolanError } from "../config/diagnostic.ts";
import type { ConfigEvent, ConfigHandler } from "./config-store.ts";

/** Handlers by kind, as `kindText` writes it, told of events one after another. */
export interface EventHandlers {
  register(kind: string, handler: ConfigHandler): void;
  /** From now on no handler may be added. */
  close(): void;
  /** Resolves when every handler has been told of these events and all before. */
  tell(events: readonly ConfigEvent[]): Promise<void>;
}

export function createEventHandlers(): EventHandlers {
  const handlers: { readonly kind: string; readonly handler: ConfigHandler }[] = [];
  let closed = false;
  let queue: Promise<void> = Promise.resolve();

  const tellAll = async (events: readonly ConfigEvent[]): Promise<void> => {
    for (const event of events) {
      for (const { kind, handler } of handlers) if (kind === kindText(event.current.meta)) await handler(event);
    }
  };
  return {
    register(kind, handler) {
      if (closed) throw new PortolanError("handlers must be registered before the store runs");
      handlers.push({ kind, handler });
    },
    close() {
      closed = true;
    },
    tell(events) {
      // A handler that fails must not keep the next events from the others.
      const told = queue.then(() => tellAll(events));
      queue = told.catch(() => undefined);
      return told;
    },
  };
}
