import { z } from "zod";
import { PortolanError } from "../../base/diagnostic.ts";
import { jsonIn } from "../../base/untyped.ts";

const text = z.string();
const objects = <S extends z.ZodRawShape>(shape: S) => z.array(z.looseObject(shape)).readonly();
const part = z.looseObject({ resource: text, from: z.array(text).readonly(), at: z.array(text).readonly() });
const refused = z.looseObject({
  version: text,
  since: text,
  reason: text.optional(),
  parts: z.array(part).readonly(),
});

/** What commands read of `GET /api/resources`. */
export const resourcesRead = z.looseObject({
  root: text,
  class: text,
  resources: objects({ name: text, version: text, from: z.array(text).readonly(), text: text.optional() }),
  next: text.optional(),
});

/** The same of `GET /api/resource`. */
export const resourceRead = z.looseObject({ text, next: z.number().optional() });

/** A resource itself. */
export const resourceText = z.looseObject({});

/** The same of `GET /status/nodes`; null where a front keeps no status. */
export const nodesRead = z
  .looseObject({
    nodes: objects({
      node: text,
      name: text,
      state: text,
      presence: text,
      lastSeen: text,
      resources: objects({
        type: text,
        name: text.optional(),
        accepted: text,
        transport: text,
        refused: refused.optional(),
        state: text,
      }),
      notSent: z.array(text).readonly(),
    }),
    more: z.number(),
    unread: z.number().optional(),
  })
  .nullable();

/** The same of `GET /healthz`. */
export const healthRead = z.looseObject({ publication: text.optional() });

/** The same of `GET /strangers`. */
export const strangersRead = z.looseObject({ strangers: objects({ nodeId: text, kind: text, reason: text }) });

/** The same of `GET /refusals`. */
export const refusalsRead = z.looseObject({
  refusals: objects({
    nodeId: text,
    type: text,
    name: text,
    refused: text,
    kept: text.optional(),
    error: text.optional(),
    suspects: objects({ name: text, from: z.array(text).readonly() }).optional(),
  }),
});

/**
 * Reads what somebody has answered who may be no front at all.
 *
 * @param form of what commands read of it; a caller that names a type of the front's takes the rest at its word
 * @throws PortolanError for what is no JSON, or says something else
 */
export function readAnswer<T>(server: string, answer: string, form: z.ZodType<T> | z.ZodType): T {
  const said = jsonIn(answer);
  const read = form.safeParse(said);
  // Forms leave it as it is.
  if (read.success) return said as T;
  const [issue] = read.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? "" : ` at ${issue.path.join(".")}`;
  throw new PortolanError(
    `${server} does not answer as a front of this version does${where}: is this its address, and does a proxy in between change its answers?`,
  );
}
