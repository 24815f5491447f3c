import { settingsJsonSchema } from "./fields.ts";

/** The JSON Schema as a file. */
export const schemaText = (): string => `${JSON.stringify(settingsJsonSchema(), undefined, 2)}\n`;
