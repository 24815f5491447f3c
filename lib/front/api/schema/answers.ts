import { z } from "zod";
import { insteads } from "../../../snapshot/nodes/refusals.ts";
import {
  at,
  canary,
  configuration,
  hash,
  list,
  objectKey,
  publication,
  resourceType,
  shape,
  type share,
  time,
} from "./words.ts";

const pin = z.object({
  by: z.string(),
  why: z.string(),
  since: time,
  until: time.optional(),
  configuration: configuration.optional(),
});

export const overview = z.object({
  generation: z.number(),
  served: hash.meta({ description: "the version in force" }),
  since: publication.optional().meta({ description: "what led to it; absent where the history was collected" }),
  steps: list(z.object({ root: hash, at: time })).meta({ description: "versions that follow by themselves" }),
  newest: hash.meta({ description: "the newest publish; another one than is led to while something is pinned" }),
  pin: pin.optional(),
  expired: pin.optional().meta({ description: "a pin whose time is over, until the next compile leads on" }),
  canary: canary.optional(),
  held: list(publication).meta({ description: "recorded since and not served; the newest 20" }),
  compiler: z.string(),
  release: z.string().optional().meta({ description: "release of Istio whose behaviour the answers have: `1.32`" }),
  sources: list(
    z.object({
      name: z.string(),
      version: z.string().meta({ description: "its hash; empty when the source is empty" }),
      configuration: z
        .string()
        .optional()
        .meta({ description: "the version whose configuration counts, empty for none; absent: that of `version`" }),
    }),
  ),
  classes: z.number(),
  diagnostics: z.object({
    errors: z.number(),
    warnings: z.number(),
    infos: z.number(),
    closed: z.number().meta({ description: "security objects and rules that are refused and fail closed" }),
    open: z.number().meta({ description: "those that are left out, since securityFailure is open" }),
  }),
  proxies: z
    .object({
      total: z.number(),
      synced: z.number(),
      refused: z.number(),
      stale: z.number(),
      "not-sent": z.number(),
      gone: z.number(),
      troubled: list(z.object({ node: z.string(), name: z.string(), state: z.string(), presence: z.string() })).meta({
        description: "those that are refused, stale or gone, in this order; the first 20",
      }),
    })
    .optional()
    .meta({ description: "proxies by state, as in `/api/nodes`; absent where this front keeps none" }),
  unmatched: z.number().meta({ description: "nodes that ask and have no class of their own" }),
  refusals: z.number().meta({ description: "active NACKs of all nodes" }),
  behind: list(z.object({ name: z.string(), asOf: time.optional(), failure: z.string() }))
    .optional()
    .meta({
      description:
        "collected sources that may not be as their upstreams are: one cannot be read, or its collector gave no sign of life for a minute; absent where this front does not read that",
    }),
  warnings: list(z.string()).meta({ description: "how well HEAD is known to this front" }),
  headAgeMs: z.number().optional(),
  moves: z
    .object({ isHere: z.boolean(), reason: z.string().optional() })
    .meta({ description: "whether this front moves HEAD for operators (`POST /api/moves`), and why not" }),
  isAnalyzed: z.boolean().meta({
    description:
      "whether messages of the analysers (`portolan analyze`) are among the diagnostics of this version: they are recorded after the publish",
  }),
  notAnalyzed: z.string().optional().meta({
    description: "why not, where what compiled has recorded that: the world has more bytes than there is room for",
  }),
  isTracing: z.boolean().meta({ description: "whether this front follows requests (`GET /api/trace`)" }),
});

export const history = z.object({
  entries: list(publication),
  next: hash.optional().meta({ description: "for `before`, to read on" }),
});

const diagnostic = z.object({
  code: z.string(),
  severity: z.enum(["error", "warning", "info"]),
  object: objectKey.meta({ description: "as its kind, namespace and name; empty where none is meant" }),
  file: z.string(),
  line: z.number().meta({ description: "1-based; 0 where the source has no lines" }),
  path: z.string().meta({ description: "of the field: `spec.http[0].route`" }),
  message: z.string(),
  hint: z.string(),
  instead: z.enum(insteads).optional().meta({
    description: "of what refuses something: what is served in its place, as in `portolan status --json`",
  }),
});

export const diagnostics = at.extend({ total: z.number(), diagnostics: list(diagnostic) });

const members = z.object({
  nodes: z.number().meta({ description: "how many are known to the node index by name" }),
  first: list(z.string()).meta({ description: "the first of them, `pod.namespace`" }),
  defaultOf: list(z.string()).meta({ description: "types and namespaces whose unknown nodes get it: `sidecar/shop`" }),
});

const counts = z
  .partialRecord(resourceType, z.number())
  .readonly()
  .meta({ description: "resources of each type in the stream shape, where endpoints are separate resources" });

export const classes = at.extend({
  total: z.number(),
  isPartial: z.boolean().meta({ description: "there are more nodes than were gone over" }),
  classes: list(members.extend({ id: z.string(), counts })),
});

export const oneClass = at.extend({
  id: z.string(),
  ...members.shape,
  isPartial: z.boolean(),
  page: list(z.string()).meta({ description: "nodes, by name, from the offset" }),
  secrets: list(z.string()).meta({ description: "names of the secrets that its resources name" }),
  trees: list(z.object({ shape, type: resourceType, version: z.string(), resources: z.number(), bytes: z.number() })),
});

const resourceHead = z.object({
  name: z.string(),
  version: hash,
  bytes: z.number(),
  from: list(objectKey).meta({ description: "the objects that it was made from; the first 20 in lists" }),
  moreFrom: z.number(),
});

export const resources = at.extend({
  class: z.string(),
  shape,
  type: resourceType,
  version: z.string().meta({ description: "as nodes get it" }),
  total: z.number().meta({ description: "all that the class has of the type, found or not" }),
  resources: list(
    resourceHead.extend({ text: z.string().optional().meta({ description: "its JSON on one line, with `texts`" }) }),
  ),
  next: z.string().optional().meta({ description: "for `after`, to read on; there may be nothing more to find" }),
});

export const resource = at.extend({
  class: z.string(),
  shape,
  type: resourceType,
  ...resourceHead.shape,
  offset: z.number().meta({ description: "byte at which `text` begins" }),
  text: z.string().meta({ description: "its JSON on one line, or 256 KiB of it" }),
  next: z.number().optional().meta({ description: "for `offset`, to read on" }),
});

export type Overview = z.infer<typeof overview>;
export type History = z.infer<typeof history>;
export type Diagnostics = z.infer<typeof diagnostics>;
export type Classes = z.infer<typeof classes>;
export type OneClass = z.infer<typeof oneClass>;
export type Resources = z.infer<typeof resources>;
export type Resource = z.infer<typeof resource>;
export type SharedNodes = z.infer<typeof share>;
export type PublicationEntry = z.infer<typeof publication>;
