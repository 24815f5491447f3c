import { z } from "zod";
import { at, list } from "./words.ts";

const inNamespace = z.object({ namespace: z.string(), services: z.number() });

export const mesh = at.extend({
  services: z.number().meta({ description: "hosts that some proxy sees" }),
  namespaces: list(
    z.object({ name: z.string().meta({ description: "empty: hosts outside of the mesh" }), services: z.number() }),
  ),
  callers: list(
    z.object({
      namespace: z.string(),
      kind: z.string().meta({ description: "`sidecar`, `router` (gateways), `grpc`" }),
      classes: list(z.string()).meta({ description: "the first 20" }),
      nodes: z.number(),
      seesAll: z.boolean(),
      sees: list(inNamespace).meta({
        description: "namespaces of which it sees services, by its Sidecars and visibility",
      }),
    }),
  ),
  isPartial: z.boolean(),
});

export const meshServices = at.extend({
  class: z.string(),
  namespace: z.string(),
  seenBy: list(z.object({ namespace: z.string(), kind: z.string(), nodes: z.number() }))
    .optional()
    .meta({ description: "the proxies that see it, where `q` is the whole name of a host" }),
  total: z.number(),
  isPartial: z.boolean(),
  services: list(
    z.object({
      host: z.string(),
      ports: list(z.number()),
      subsets: list(z.string()),
      routes: list(
        z.object({
          host: z.string().meta({ description: "what is asked for" }),
          match: z.string().meta({ description: "`prefix /reviews`; empty for every request" }),
          to: list(z.object({ host: z.string(), subset: z.string(), port: z.number(), weightPercent: z.number() })),
        }),
      ).meta({ description: "routes to it, or for it, that do more than lead there" }),
    }),
  ),
});

export type Mesh = z.infer<typeof mesh>;
export type MeshServices = z.infer<typeof meshServices>;
