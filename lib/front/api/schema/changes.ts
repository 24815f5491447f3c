import { z } from "zod";
import { hash, list, objectKey, resourceType, shape } from "./words.ts";

const change = z.enum(["added", "removed", "changed"]);

export const diff = z.object({
  before: hash,
  after: hash,
  shape,
  classes: z.object({
    added: list(z.string()),
    removed: list(z.string()),
    moved: list(z.object({ before: z.string(), after: z.string(), who: list(z.string()), moreWho: z.number() })).meta({
      description: "another class for the same proxies",
    }),
    more: z.number(),
  }),
  counts: z.object({ added: z.number(), removed: z.number(), changed: z.number() }),
  isPartial: z.boolean().meta({ description: "more differs than was looked at" }),
  total: z.number(),
  resources: list(
    z.object({
      type: resourceType,
      name: z.string(),
      change,
      classId: z.string().meta({ description: "the first class in which it differs" }),
      earlierId: z.string().meta({ description: "that class before, where its proxies moved" }),
      classes: z.number().meta({ description: "in how many" }),
      from: list(objectKey),
      moreFrom: z.number(),
    }),
  ),
});

const value = z.string().meta({ description: "as JSON; empty for none" });

export const resourceDiff = z.object({
  before: hash,
  after: hash,
  type: resourceType,
  name: z.string(),
  change,
  places: list(z.object({ path: z.string(), before: value, after: value })),
  morePlaces: z.number(),
});

export const moveBody = z.strictObject({
  move: z.enum(["rollback", "unpin", "promote", "abort"]),
  generation: z.number().meta({ description: "of HEAD as it was seen: another one is a 409" }),
  to: hash.optional().meta({ description: "of a rollback: the version that all nodes get" }),
  why: z.string().min(1).max(500),
});

export const moved = z.object({
  generation: z.number(),
  root: hash.meta({ description: "what all nodes get" }),
  left: hash.optional(),
  by: z.string().meta({ description: "the author in the history" }),
});

export type Diff = z.infer<typeof diff>;
export type ResourceDiff = z.infer<typeof resourceDiff>;
export type MoveBody = z.infer<typeof moveBody>;
export type MoveAnswer = z.infer<typeof moved>;
