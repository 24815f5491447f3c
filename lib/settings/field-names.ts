import { settingsFields } from "./fields.ts";

/** A message as somebody reads it who has a settings file: what it says of variables, said of the fields that are the same. */
export function inFieldNames(message: string): string {
  const pathOf = new Map(
    settingsFields().flatMap(({ env, path }) => env.map((name) => [name, path.join(".")] as const)),
  );
  return message.replace(/\b[A-Z][A-Z0-9_]*[A-Z0-9]\b/g, (word) => pathOf.get(word) ?? word);
}
