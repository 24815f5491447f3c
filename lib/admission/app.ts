import type { Context } from "hono";
import { Hono } from "hono/tiny";
import { problem } from "../compile/webhook/delivery.ts";
import { isSameText } from "../compile/webhook/hmac.ts";
import type { InjectionValues } from "../injection/values.ts";
import { createBodyPool } from "../limits/body-pool.ts";
import { limits } from "../limits/limits.ts";
import { bytesOf, readBody } from "../limits/read-body.ts";
import { createSemaphore } from "../limits/semaphore.ts";
import { injectOnCreate } from "./inject.ts";
import { type AdmissionAnswer, type AdmissionRequest, readReview, reviewOf } from "./review.ts";
import { validateChange } from "./validate.ts";
import { type WorldReader, WorldUnread } from "./world-reader.ts";

export interface AdmissionOptions {
  /** The newest world; absent: objects are looked at by themselves. */
  readonly world?: WorldReader;
  /** `refuse`: changes are refused that close or open workloads. */
  readonly workloads: "allow" | "refuse";
  /** What a caller has to show, as a bearer token or as the last segment of the path; absent: nothing. */
  readonly token?: string;
  /** Values by which `POST /admission/inject` injects; absent: nothing is there. */
  readonly injection?: InjectionValues;
  readonly onError?: (cause: unknown) => void;
}

/**
 * Webhooks of an API server: `POST /admission/validate` and `POST /admission/inject`, each with `/TOKEN` behind it where the API server
 * can show a token in no other way. Without memory but for the world.
 */
export function admissionApp(options: AdmissionOptions): Hono {
  const pool = createBodyPool(limits);
  // A parsed object takes many times the memory of its text, so large reviews are handled one at a time, and small ones together up to the
  // same number of bytes.
  const room = createSemaphore(limits.reviewBytes);
  const { onError = () => {}, world, workloads } = options;

  /** @returns a refusal for programs (RFC 9457), upon which an API server does what its failurePolicy is */
  const reviewed = async (
    c: Context,
    decide: (request: AdmissionRequest) => AdmissionAnswer | Promise<AdmissionAnswer>,
  ): Promise<Response> => {
    if (options.token !== undefined && !(await isShown(options.token, c))) {
      return problem(
        401,
        "the token is missing or wrong: send it as a bearer token, or as the last segment of the path",
      );
    }
    const type = c.req.header("content-type")?.split(";")[0]?.trim();
    if (type !== "application/json") return problem(415, "invalid Content-Type, want `application/json`");
    const read = await readBody(c, { maxBytes: limits.reviewBytes, pool });
    if (read.kind === "refused") return problem(read.status, read.reason);
    const bytes = bytesOf(read);
    if (bytes.length === 0) return problem(400, "no body found");
    // A request that was given up while it waited is not handled.
    const leave = await room.enter(bytes.length, c.req.raw.signal);
    try {
      const request = readReview(new TextDecoder().decode(bytes));
      if (typeof request === "string") return problem(400, request);
      return Response.json(reviewOf(request.uid, await decide(request)));
    } finally {
      leave();
    }
  };

  const validate = (c: Context) =>
    reviewed(c, async (request) => {
      const guardsWorkloads = workloads === "refuse";
      try {
        return validateChange(request, { world: await world?.(), guardsWorkloads });
      } catch (cause) {
        // What decides about refusals has to be known: the API server's failurePolicy has the word.
        if (guardsWorkloads || !(cause instanceof WorldUnread)) throw cause;
        onError(cause);
        const { warnings, ...answer } = validateChange(request, { guardsWorkloads });
        return { ...answer, warnings: [...warnings, cause.message] };
      }
    });

  const app = new Hono();
  app.post("/admission/validate", validate);
  app.post("/admission/validate/:token", validate);
  const { injection } = options;
  if (injection !== undefined) {
    // Without the mesh's settings a proxy would be another one: the API server's failurePolicy has the word.
    const inject = (c: Context) => reviewed(c, async (request) => injectOnCreate(request, injection, await world?.()));
    app.post("/admission/inject", inject);
    app.post("/admission/inject/:token", inject);
  }
  app.onError((cause) => {
    onError(cause);
    if (cause instanceof WorldUnread) return problem(503, cause.message);
    return problem(500, "an error of Portolan's own; its log has more");
  });
  return app;
}

/** Whether a request shows the token; compared in constant time. */
async function isShown(token: string, c: Context): Promise<boolean> {
  const bearer = /^bearer +(\S+)$/i.exec(c.req.header("authorization") ?? "")?.[1];
  return isSameText(token, bearer ?? c.req.param("token") ?? "");
}
