import { z } from "zod";
import { hash, list, objectKey, resourceType, time } from "./words.ts";

export const nodes = z.object({
  isKept: z.boolean().meta({ description: "whether this front keeps what its nodes have: at the edge none does" }),
  total: z.number(),
  nodes: list(
    z.object({
      node: z.string(),
      name: z.string().meta({ description: "`pod.namespace` where its id says it" }),
      cluster: z.string().optional().meta({ description: "cluster that it is in, as it has proven or says" }),
      class: z.string().optional().meta({ description: "in the version that is in force for it" }),
      resources: list(
        z.object({
          type: z.string(),
          name: z.string().optional(),
          version: z.string(),
          since: time,
          transport: z.enum(["poll", "stream", "delta"]),
          refused: z
            .object({
              version: z.string(),
              since: time,
              error: z.string().optional().meta({ description: "the node's own words; over REST there are none" }),
            })
            .optional(),
          state: z.enum(["synced", "stale", "refused", "taken"]).meta({
            description:
              "`synced`: it has what is in force for it; `stale`: something else; `refused`: it was served that and keeps what it has; `taken`: of secrets, which no version holds",
          }),
        }),
      ),
      more: z.number(),
      refuses: z.number().meta({ description: "how many of its resources are `refused`" }),
      stale: z.number().meta({ description: "how many are `stale`" }),
      notSent: list(resourceType).meta({ description: "types of which there is something for it, and it has nothing" }),
    }),
  ),
  unread: z.number().optional().meta({
    description: "records of other fronts that were not read; nodes that only these name are missing. Absent: none",
  }),
});

export const trouble = z.object({
  refusals: list(
    z.object({
      nodeId: z.string(),
      clusterId: z.string().optional().meta({ description: "cluster that it is in, as it has proven or says" }),
      type: z.string(),
      name: z.string(),
      refused: z.string().meta({ description: "version that it does not take" }),
      kept: z.string().optional(),
      since: time,
      class: z.string(),
      root: hash,
      error: z.string().optional().meta({ description: "the node's own words; over REST there are none" }),
      suspects: list(z.object({ name: z.string(), from: list(objectKey), at: list(z.string()) })).meta({
        description: "resources that it may be about, and where their objects stand",
      }),
      moreSuspects: z.number(),
      isGone: z.boolean().meta({ description: "the store has the refused answer no more" }),
    }),
  ),
  moreRefusals: z.number(),
  strangers: list(
    z.object({
      nodeId: z.string(),
      clusterId: z.string().optional().meta({ description: "cluster that it is in, as it has proven or says" }),
      kind: z.enum(["unknown", "default"]),
      reason: z.string(),
      sinceMs: z.number(),
      since: time,
      remedy: z.string(),
    }),
  ),
  moreStrangers: z.number(),
});

export type Nodes = z.infer<typeof nodes>;
export type Trouble = z.infer<typeof trouble>;
