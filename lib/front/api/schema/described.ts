import { z } from "zod";
import type { ApiName } from "../paths.ts";
import { classes, diagnostics, history, oneClass, overview, resource, resources } from "./answers.ts";
import { diff, moveBody, moved, resourceDiff } from "./changes.ts";
import { lookups } from "./lookups.ts";
import { mesh, meshServices } from "./mesh.ts";
import { nodes, trouble } from "./nodes.ts";
import { traced } from "./trace.ts";
import { limitParameter, offsetParameter, resourceType, rootParameter, searchParameter, shape } from "./words.ts";

interface Described {
  readonly summary: string;
  readonly query: Readonly<Record<string, z.ZodType>>;
  readonly body?: z.ZodType;
  readonly answer: z.ZodType;
}

const page = { offset: offsetParameter, limit: limitParameter };
const ofProxy = {
  root: rootParameter,
  class: z.string().optional().meta({ description: "id of a class; it, or `node`, is needed" }),
  node: z.string().optional().meta({
    description:
      "`pod.namespace`, an address or a node id: what is in force for this one, unless `root` is another version",
  }),
  type: resourceType.optional().meta({ description: "`clusters` by default" }),
  shape: shape.optional().meta({ description: "`poll` by default" }),
};

const versionParameter = (usual: string) =>
  z
    .string()
    .optional()
    .meta({ description: `a version, named as \`root\` is; ${usual} by default` });
const inShape = shape.optional().meta({ description: "`stream` by default" });

/** What each request of the API is for, takes and gives. */
export const described = {
  overview: { summary: "What is served, what follows and what holds it", query: {}, answer: overview },
  history: {
    summary: "Publications, newest first, with author and reason",
    query: {
      before: z.string().optional().meta({ description: "`next` of an earlier answer" }),
      limit: limitParameter,
      changes: z
        .enum(["true", "false"])
        .optional()
        .meta({ description: "`true`: only entries that changed configuration, which a rollback leads back to" }),
    },
    answer: history,
  },
  diagnostics: {
    summary: "Diagnostics of a version's objects",
    query: {
      root: rootParameter,
      severity: z.enum(["error", "warning", "info"]).optional(),
      q: searchParameter,
      ...page,
    },
    answer: diagnostics,
  },
  classes: {
    summary: "Classes of proxies, with their nodes",
    query: { root: rootParameter, q: searchParameter, ...page },
    answer: classes,
  },
  oneClass: {
    summary: "One class: its nodes, its secrets, and what it has",
    query: { root: rootParameter, q: searchParameter, ...page },
    answer: oneClass,
  },
  resources: {
    summary: "Resources of a class, by name, with the objects that they were made from",
    query: {
      ...ofProxy,
      q: searchParameter,
      from: z.string().optional().meta({ description: "part of an object's key: made from such a one" }),
      after: z.string().optional().meta({ description: "`next` of an earlier answer" }),
      limit: limitParameter,
      texts: z.enum(["true", "false"]).optional().meta({
        description:
          "with each one's text, as long as they are 256 KiB together; one that is longer by itself has none",
      }),
    },
    answer: resources,
  },
  resource: {
    summary: "One resource with its text",
    query: {
      ...ofProxy,
      name: z.string(),
      offset: z.string().optional().meta({ description: "byte to begin at: `next` of an earlier answer" }),
    },
    answer: resource,
  },
  diff: {
    summary: "What differs between two versions",
    query: {
      before: versionParameter("`HEAD~1`"),
      after: versionParameter("`SERVED`"),
      shape: inShape,
      q: searchParameter,
      ...page,
    },
    answer: diff,
  },
  resourceDiff: {
    summary: "Where one resource differs between two versions",
    query: {
      before: versionParameter("`HEAD~1`"),
      after: versionParameter("`SERVED`"),
      class: z.string(),
      earlier: z.string().optional().meta({ description: "the class before, where it was another one" }),
      type: resourceType,
      shape: inShape,
      name: z.string(),
    },
    answer: resourceDiff,
  },
  nodes: {
    summary: "Nodes that ask this front, and the versions that they have",
    query: { q: z.string().optional().meta({ description: "part of a node's id" }), ...page },
    answer: nodes,
  },
  trouble: {
    summary: "Nodes that refuse what they were served, and nodes without a class of their own",
    query: page,
    answer: trouble,
  },
  lookups: {
    summary: "What was looked up in a network for this mesh: key sets of token issuers",
    query: page,
    answer: lookups,
  },
  mesh: {
    summary: "Which namespaces may call which: what each sort of proxies sees",
    query: { root: rootParameter },
    answer: mesh,
  },
  meshServices: {
    summary: "Services of a namespace as a class of callers has them, and where its routes lead",
    query: {
      root: rootParameter,
      class: z.string(),
      namespace: z.string().meta({ description: "`*` for all; empty: hosts outside of the mesh" }),
      q: searchParameter.meta({
        description: "part of a host's name; the whole name finds only this host, and the proxies that see it",
      }),
      ...page,
    },
    answer: meshServices,
  },
  trace: {
    summary: "The way of a request through a proxy, and what decided it",
    query: {
      root: rootParameter,
      node: z.string().meta({ description: "`pod.namespace`, an address, a node id, or the id of a class" }),
      url: z.string().meta({ description: "`http://reviews:9080/reviews/7`, `https://…`, `tcp://mysql:3306`" }),
      method: z.string().optional(),
      headers: z.string().optional().meta({ description: "`name: value`, line by line" }),
      direction: z.enum(["inbound", "outbound"]).optional().meta({ description: "what the proxy is for by default" }),
      mutual: z.enum(["true", "false"]).optional().meta({ description: "within the mutual TLS of another proxy" }),
      from: z.string().optional().meta({ description: "the client's address" }),
      principal: z
        .string()
        .optional()
        .meta({ description: "the same as `mutual`, of this one: `cluster.local/ns/shop/sa/web`" }),
      claims: z.string().optional().meta({ description: "claims of a good JSON web token, as a JSON object" }),
      shape: inShape,
    },
    answer: traced,
  },
  move: {
    summary: "Moves HEAD: an operator's rollback, unpin, promote or abort",
    query: {},
    body: moveBody,
    answer: moved,
  },
} satisfies Readonly<Record<ApiName, Described>>;

export type ApiAnswers = { readonly [Name in ApiName]: z.infer<(typeof described)[Name]["answer"]> };
