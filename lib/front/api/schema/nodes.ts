import { z } from "zod";
import { hash, list, objectKey, resourceType, time } from "./words.ts";

export const nodes = z.object({
  isKept: z.boolean().meta({ description: "whether this front keeps what its nodes have: at the edge none does" }),
  total: z.number(),
  nodes: list(
    z.object({
      node: z.string(),
      name: z.string().meta({ description: "`pod.namespace` where its id has it" }),
      cluster: z.string().optional().meta({ description: "cluster that it is in, proven or claimed" }),
      class: z.string().optional().meta({ description: "in the version that is in force for it" }),
      state: z.enum(["synced", "stale", "refused", "not-sent", "gone"]).meta({
        description: "the worst of its resources; of a node that is not `connected`, its `presence`",
      }),
      presence: z.enum(["connected", "stale", "gone"]).meta({
        description:
          "`connected`: it has a stream or a held poll open, or has asked within three poll intervals; `stale`: it has missed three, or its stream has ended; `gone`: it has missed ten, and a minute at least",
      }),
      lastSeen: time,
      resources: list(
        z.object({
          type: z.string(),
          name: z.string().optional(),
          state: z.enum(["synced", "stale", "refused", "taken", "gone"]).meta({
            description:
              "`synced`: it has accepted what is in force for it; `stale`: something else, or it is not heard any more; `refused`: it was served that, does not take it and keeps what it has; `taken`: of secrets, which no version holds; `gone`: its node is gone",
          }),
          served: z.string().optional().meta({ description: "version that is served; absent for secrets" }),
          accepted: z.string().meta({
            description:
              "version that it has accepted last; empty for none, `earlier` for one that an agent did not get",
          }),
          since: time.meta({ description: "since when it has that" }),
          transport: z.enum(["poll", "stream", "delta"]),
          refused: z
            .object({
              version: z.string(),
              since: time,
              reason: z.string().optional().meta({ description: "the node's own words; over REST there are none" }),
              parts: list(z.object({ resource: z.string(), from: list(objectKey), at: list(z.string()) })).meta({
                description:
                  "resources that it may be about, their objects, and the objects' files and lines; at most 20",
              }),
            })
            .optional(),
        }),
      ),
      more: z.number(),
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
      clusterId: z.string().optional().meta({ description: "cluster that it is in, proven or claimed" }),
      type: z.string(),
      name: z.string(),
      refused: z.string().meta({ description: "version that it does not take" }),
      kept: z.string().optional(),
      since: time,
      class: z.string(),
      root: hash,
      error: z.string().optional().meta({ description: "the node's own words; over REST there are none" }),
      suspects: list(z.object({ name: z.string(), from: list(objectKey), at: list(z.string()) })).meta({
        description: "resources that it may be about, and the files and lines of their objects",
      }),
      moreSuspects: z.number(),
      isGone: z.boolean().meta({ description: "the store has the refused answer no more" }),
    }),
  ),
  moreRefusals: z.number(),
  strangers: list(
    z.object({
      nodeId: z.string(),
      clusterId: z.string().optional().meta({ description: "cluster that it is in, proven or claimed" }),
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
