import { z } from "zod";
import type { ApiName } from "../paths.ts";
import { classes, diagnostics, history, oneClass, overview, resource, resources } from "./answers.ts";
import { limitParameter, offsetParameter, resourceType, rootParameter, searchParameter, shape } from "./words.ts";

interface Described {
  readonly summary: string;
  readonly query: Readonly<Record<string, z.ZodType>>;
  readonly body?: z.ZodType;
  readonly answer: z.ZodType;
}

const page = { offset: offsetParameter, limit: limitParameter };
const ofClass = {
  root: rootParameter,
  class: z.string(),
  type: resourceType.optional().meta({ description: "`clusters` by default" }),
  shape: shape.optional().meta({ description: "`poll` by default" }),
};

/** What each request of the API is for, takes and gives. */
export const described = {
  overview: { summary: "What is served, what follows and what holds it", query: {}, answer: overview },
  history: {
    summary: "What was published, newest first, by whom and why",
    query: {
      before: z.string().optional().meta({ description: "`next` of an earlier answer" }),
      limit: limitParameter,
    },
    answer: history,
  },
  diagnostics: {
    summary: "What the compiler said of a version's objects",
    query: {
      root: rootParameter,
      severity: z.enum(["error", "warning", "info"]).optional(),
      q: searchParameter,
      ...page,
    },
    answer: diagnostics,
  },
  classes: {
    summary: "Classes of proxies, with who is of them",
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
      ...ofClass,
      q: searchParameter,
      from: z.string().optional().meta({ description: "part of an object's key: made from such a one" }),
      after: z.string().optional().meta({ description: "`next` of an earlier answer" }),
      limit: limitParameter,
    },
    answer: resources,
  },
  resource: {
    summary: "One resource with its text",
    query: {
      ...ofClass,
      name: z.string(),
      offset: z.string().optional().meta({ description: "byte to begin at: `next` of an earlier answer" }),
    },
    answer: resource,
  },
} satisfies Readonly<Record<ApiName, Described>>;

export type ApiAnswers = { readonly [Name in ApiName]: z.infer<(typeof described)[Name]["answer"]> };
