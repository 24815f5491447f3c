import { answer, type RegistryFaults, type V1Answer, type V1Request } from "./answer.ts";
import { type AnswerCache, createAnswerCache } from "./answer-cache.ts";
import { encodeDocument } from "./encode.ts";
import type { LegacyWorld } from "./legacy-world.ts";

/** Where answers come from, and who may replace them. */
export interface V1ServiceOptions {
  /** The newest world. */
  world(): LegacyWorld;
  /** Milliseconds of a clock that does not go back. */
  now(): number;
  readonly faults?: RegistryFaults;
  /**
   * Asks the configured webhook: it gets a CDS, LDS or RDS answer and its path, and what it says is served instead.
   * undefined as an answer: it could not be asked, and the generated answer stands.
   */
  webhook?(path: string, body: string): string | undefined;
}

/** The whole v1 API over a world that may change: answers, their cache and its statistics. */
export interface V1Service {
  handle(request: V1Request): V1Answer;
  /** The world has changed. */
  changed(): void;
}

export function createV1Service(options: V1ServiceOptions): V1Service {
  const cache = createAnswerCache(options.now);
  return {
    handle: (request) => {
      const own = ownAnswer(request, cache);
      if (own !== undefined) return own;
      return cache.answer(request, () => {
        const made = answer(options.world(), request, options.faults);
        // SDS is never handed over.
        if (made.document === undefined || made.document.kind === "sds") return made;
        return { ...made, body: options.webhook?.(request.path, made.body) ?? made.body };
      });
    },
    changed: () => cache.clear(),
  };
}

const methodNotAllowed: V1Answer = { status: 405, body: "405: Method Not Allowed" };

/** What the API says about itself. */
function ownAnswer(request: V1Request, cache: AnswerCache): V1Answer | undefined {
  const path = request.path.replace(/\?.*$/, "").replace(/\/$/, "");
  if (path === "/cache_stats") {
    if (request.method !== "GET") return methodNotAllowed;
    return { status: 200, body: encodeDocument(cache.statistics()), contentType: "application/json" };
  }
  if (path !== "/cache_stats_delete") return undefined;
  if (request.method !== "POST") return methodNotAllowed;
  cache.resetCounters();
  return { status: 200, body: "" };
}
