import { createAnswerCache } from "../../../lib/legacy/answer-cache.ts";
import { encodeDocument } from "../../../lib/legacy/go-json.ts";
import { parseV1Request, type V1Answer, type V1Request } from "../../../lib/legacy/v1-request.ts";
import type { LegacyWorld } from "../../../lib/v1/legacy-world.ts";
import { answer, type RegistryFaults } from "./answer.ts";

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
  const cache = createAnswerCache<{ readonly answer: V1Answer }>(options.now);
  return {
    handle: (request) => {
      const { question } = parseV1Request(request);
      if (question?.kind === "statistics") {
        return { status: 200, body: encodeDocument(cache.statistics()), contentType: "application/json" };
      }
      if (question?.kind === "reset-statistics") {
        cache.resetCounters();
        return { status: 200, body: "" };
      }
      const stored = question === undefined ? undefined : cache.find(request);
      if (stored !== undefined) return stored.answer;
      const made = answer(options.world(), request, options.faults);
      // SDS is never handed over.
      const handed = made.document !== undefined && made.document.kind !== "sds";
      const body = handed ? options.webhook?.(request.path, made.body) : undefined;
      const served = body === undefined ? made : { ...made, body };
      cache.keep(request, { answer: served });
      return served;
    },
    changed: () => cache.clear(),
  };
}
