import { z } from "zod";
import { type ApiName, apiPaths } from "../paths.ts";
import { described } from "./described.ts";
import { problem } from "./words.ts";

/** OpenAPI's description of the API, made from what the handlers are checked against. Built with the console, and served as a file. */
export function openApiDocument(version: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const name of Object.keys(apiPaths).filter(isApiName)) {
    const { method, path } = apiPaths[name];
    const written = path.replace(/:(\w+)/g, "{$1}");
    paths[written] = { ...paths[written], [method]: operation(name, path) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Portolan's front",
      version,
      description:
        "What the console shows. Everything here is for operators; where authentication is off, for every client that can connect. Answers are at most 2 MiB.",
    },
    paths,
    components: { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
    security: [{ bearer: [] }, {}],
  };
}

const isApiName = (name: string): name is ApiName => name in described;

function operation(name: ApiName, path: string): object {
  const { summary, answer, ...taken } = described[name];
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, key = ""]) => ({
    name: key,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  const inQuery = Object.entries(taken.query).map(([key, type]) => parameter(key, type));
  return {
    operationId: name,
    summary,
    parameters: [...inPath, ...inQuery],
    ...("body" in taken && taken.body instanceof z.ZodType
      ? { requestBody: { required: true, content: { "application/json": { schema: schemaOf(taken.body) } } } }
      : {}),
    responses: {
      200: { description: summary, content: { "application/json": { schema: schemaOf(answer) } } },
      default: {
        description: "what is wrong, as RFC 9457 has it",
        content: { "application/problem+json": { schema: schemaOf(problem) } },
      },
    },
  };
}

function parameter(name: string, type: z.ZodType): object {
  const { description, ...schema } = schemaOf(type);
  return {
    name,
    in: "query",
    required: !type.safeParse(undefined).success,
    ...(description === undefined ? {} : { description }),
    schema,
  };
}

function schemaOf(type: z.ZodType): { readonly description?: string | undefined } {
  const { $schema: _, "~standard": _standard, ...schema } = z.toJSONSchema(type, { io: "output" });
  return schema;
}
