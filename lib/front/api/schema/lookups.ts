import { z } from "zod";
import { list, time } from "./words.ts";

/** What was looked up in a network for this mesh. */
export const lookups = z.object({
  isRead: z.boolean().meta({ description: "whether this front reads what was looked up; fronts at the edge do not" }),
  total: z.number(),
  lookups: list(
    z.object({
      kind: z.enum(["jwks", "host", "module"]).meta({
        description: "`jwks`: a key set; `host`: addresses of a host, over DNS; `module`: a module of Wasm",
      }),
      of: z.string().meta({
        description: "URL of a key set, or an issuer whose discovery document names it; a host; URL of a module",
      }),
      state: z.enum(["fresh", "stale", "missing"]).meta({
        description:
          "`stale`: its origin fails, and what was read before is in force; `missing`: nothing was ever read",
      }),
      keys: z.number().optional().meta({ description: "of a key set: how many it has" }),
      addresses: list(z.string()).optional().meta({ description: "of a host: those in force" }),
      sha256: z.string().optional().meta({ description: "of a module that was fetched" }),
      fetchedAt: time.optional(),
      failingSince: time.optional(),
      problem: z.string().optional().meta({ description: "why it fails, or what of it is not used" }),
    }),
  ).meta({ description: "those that fail first, then by name" }),
});

export type Lookups = z.infer<typeof lookups>;
