import { type SettingsField, settingsFields, settingsJsonSchema } from "./fields.ts";

const head = ["| field | meaning | may be | default | variable |", "| --- | --- | --- | --- | --- |"];

/** The reference of all fields, as a table of Markdown. */
const settingsTable = (): string => [...head, ...settingsFields().map(row)].join("\n");

function row({ path, text, type, usual, env, worker, takesFile }: SettingsField): string {
  const name = path.join(".").replace(".[]", "[]");
  const variables = [
    ...env.map((one) => `\`${one}\``),
    ...(worker === "" || env.includes(worker) ? [] : [`in a Worker \`${worker}\``]),
  ];
  const file = takesFile && !text.includes("@FILE") ? " `@FILE` takes a file's text." : "";
  return `| \`${name}\` | ${text}${file} | ${type} | ${usual} | ${variables.join(", ")} |`;
}

/** A page with the table as it is now, between the two marks. */
export const withSettingsTable = (page: string): string =>
  page.replace(
    /(<!-- settings -->\n).*?(\n<!-- end of settings -->)/s,
    (_, begin, end) => begin + settingsTable() + end,
  );

/** The JSON Schema as a file. */
export const schemaText = (): string => `${JSON.stringify(settingsJsonSchema(), undefined, 2)}\n`;
