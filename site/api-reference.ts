import { z } from "zod";

const parameter = z.object({
  name: z.string(),
  in: z.string(),
  required: z.boolean(),
  description: z.string().optional(),
  schema: z.object({ enum: z.array(z.string()).optional() }),
});

const operation = z.object({
  summary: z.string(),
  parameters: z.array(parameter),
  requestBody: z.unknown().optional(),
  responses: z.record(z.string(), z.unknown()),
});

const openApi = z.object({ paths: z.record(z.string(), z.record(z.string(), operation)) });

/** What a request takes or gives, one level deep: the fields, and whether they have to be there. */
const body = z.object({
  content: z.object({
    "application/json": z.object({ schema: z.record(z.string(), z.unknown()) }),
  }),
});

/**
 * The page of the API for programs, from its own description.
 *
 * @param document OpenAPI, as the front serves it
 * @returns Markdown: a heading for each request, with its parameters and the fields of what it takes and gives
 */
export function apiReference(document: object): string {
  const { paths } = openApi.parse(document);
  const sections = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => sectionOf(`${method.toUpperCase()} ${path}`, described)),
  );
  return `# The API of the console

Made from the API's description by \`npm run reference\`; a test holds it against that. A front serves the description itself, with every field's type, at \`/api/openapi.json\` (OpenAPI 3.1).
Authentication and limits: [console.md](../console.md#the-api). Errors are answered as \`application/problem+json\`.

${sections.join("\n")}`;
}

function sectionOf(
  heading: string,
  { summary, parameters, requestBody, responses }: z.infer<typeof operation>,
): string {
  const rows = parameters.map(
    ({ name, in: place, required, description = "", schema }) =>
      `| \`${name}\` | ${place}${required ? ", has to be there" : ""} | ${meaning(description, schema.enum)} |\n`,
  );
  const table = rows.length === 0 ? "" : `\n| parameter | where | |\n| --- | --- | --- |\n${rows.join("")}`;
  const takes = requestBody === undefined ? "" : `\nTakes JSON: ${fieldsOf(requestBody)}.\n`;
  return `## ${heading}\n\n${summary}.\n${table}${takes}\nGives JSON: ${fieldsOf(responses["200"])}.\n`;
}

/** What a parameter is, in a cell of a table. */
const meaning = (description: string, choices: readonly string[] = []): string =>
  [description, choices.map((one) => `\`${one}\``).join(", ")]
    .filter((part) => part !== "")
    .join("; ")
    .replaceAll("|", "\\|");

/** `a`, `b`, and `c` with a question mark where it may be absent; of one of several forms, each form's. */
function fieldsOf(taken: unknown): string {
  return formsOf(body.parse(taken).content["application/json"].schema).join("; or ");
}

const form = z.object({
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  anyOf: z.array(z.record(z.string(), z.unknown())).optional(),
  oneOf: z.array(z.record(z.string(), z.unknown())).optional(),
});

function formsOf(schema: object): readonly string[] {
  const { properties, required = [], anyOf, oneOf } = form.parse(schema);
  const several = anyOf ?? oneOf;
  if (several !== undefined) return several.flatMap(formsOf);
  return [
    Object.keys(properties ?? {})
      .map((name) => `\`${name}${required.includes(name) ? "" : "?"}\``)
      .join(", "),
  ];
}
