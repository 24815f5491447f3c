import { type SettingsField, settingsFields } from "../lib/settings/fields.ts";

/** The page of all settings of `portolan serve`, as Markdown: a row for each field. */
export function settingsReference(): string {
  return `# Every setting

Made from \`lib/settings/schema.ts\` by \`node scripts/settings.mjs\`; a test compares the two.
[Settings](../settings.md) has an example, and the commands that check a file.

| field | meaning | may be | default | variable |
| --- | --- | --- | --- | --- |
${settingsFields().map(row).join("\n")}
`;
}

function row({ path, text, type, usual, env, worker, takesFile }: SettingsField): string {
  const name = path.join(".").replace(".[]", "[]");
  const variables = [
    ...env.map((one) => `\`${one}\``),
    ...(worker === "" || env.includes(worker) ? [] : [`in a Worker \`${worker}\``]),
  ];
  const file = takesFile && !text.includes("@FILE") ? " `@FILE` takes a file's text." : "";
  return `| \`${name}\` | ${text}${file} | ${type} | ${usual} | ${variables.join(", ")} |`;
}
