/** What several answers are made of. Read when the description is built, and by tests: no front carries it. */
import { z } from "zod";
import { resourceTypes, shapes } from "../../../snapshot/resource-type.ts";

export const list = <T extends z.ZodType>(element: T) => z.array(element).readonly();

export const hash = z.string().meta({ description: "SHA-256 in lower-case hex" });
export const time = z.string().meta({ description: "RFC 3339 in UTC" });
export const objectKey = z.string().meta({ description: "an object, `Kind/namespace/name`" });
export const resourceType = z.enum(resourceTypes);
export const shape = z
  .enum(shapes)
  .meta({ description: "`stream`: as gRPC streams get it; `poll`: as polls over REST do" });

export const share = z.object({ percent: z.number(), labels: z.record(z.string(), z.string()).readonly() });
export const configuration = z
  .object({ version: hash, sources: z.array(z.object({ name: z.string(), version: hash })).readonly() })
  .meta({
    description:
      "configuration that is held while services and endpoints are followed; absent: all of a version is held",
  });
export const canary = share.extend({ root: hash, configuration: configuration.optional() });

export const publication = z.object({
  hash,
  generation: z.number(),
  root: hash,
  at: time,
  reason: z.string(),
  by: z.string().optional(),
  why: z.string().optional(),
  held: z.boolean().optional().meta({ description: "recorded and not served: a version is pinned" }),
  canary: canary.optional(),
  configuration: hash
    .optional()
    .meta({ description: "names the configuration that this entry brought; absent: it brought none" }),
  back: hash
    .optional()
    .meta({ description: "of a rollback: the `hash` of the entry that it leads back to, or its configuration" }),
  recorded: hash.optional().meta({ description: "a version that was recorded besides, and is not served" }),
});

/** Which version an answer is about. */
export const at = z.object({ root: hash });

/** The version to look at, in a query. */
export const rootParameter = z.string().optional().meta({
  description:
    "version: a generation, its hash or the first 6 digits of it, `HEAD` or `HEAD~2`, `SERVED` (default) or `NEWEST`",
});
export const offsetParameter = z.string().optional().meta({ description: "how many to leave out; 0 by default" });
export const limitParameter = z
  .string()
  .optional()
  .meta({ description: "how many at most; 50 by default, 200 at most" });
export const searchParameter = z.string().optional().meta({ description: "part of a name; upper or lower case" });

/** Names of the answers' parts. */
export const problem = z.object({ status: z.number(), detail: z.string() });
