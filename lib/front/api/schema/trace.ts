import { z } from "zod";
import { at, list, objectKey } from "./words.ts";

const decision = z.object({
  step: z.string().meta({
    description:
      "listener, filter chain, network filter, route table, virtual host, route, HTTP filter, cluster, endpoints",
  }),
  chosen: z.string().optional(),
  verdict: z
    .enum(["passes", "answers", "part", "depends"])
    .optional()
    .meta({ description: "of a filter: what it does with the request; `part` of them get its answer" }),
  why: z.string(),
  place: z.object({ type: z.string(), name: z.string() }).optional(),
  from: list(objectKey).meta({ description: "objects that the resource was made from; the first 20" }),
  causes: list(
    z.object({ object: objectKey, at: z.string().optional().meta({ description: "`reviews.yaml:12`" }) }),
  ).meta({
    description:
      "which of these decided it, by the file and line of the field that did; empty where the front does not read its sources",
  }),
  passedOver: list(z.object({ name: z.string(), why: z.string() })),
  morePassedOver: z.number(),
});

export const traced = at.extend({
  class: z.string(),
  direction: z.enum(["inbound", "outbound"]),
  decisions: list(decision),
  httpFilters: list(z.string()),
  ways: list(
    z.object({
      sharePercent: z.number(),
      decisions: list(decision),
      dependsOn: list(z.string()).meta({
        description: "what is not known and has to hold for a request to come this way; else a filter answers it",
      }),
      end: z.string().meta({ description: "where it ends, in words" }),
      endpoints: list(z.object({ address: z.string(), sharePercent: z.number().optional() })),
      moreEndpoints: z.number(),
    }),
  ),
});

export type Traced = z.infer<typeof traced>;
