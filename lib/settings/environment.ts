import { PortolanError } from "../base/diagnostic.ts";
import { isFields, jsonIn } from "../base/untyped.ts";
import { type SettingsField, settingsFields } from "./fields.ts";
import { type Settings, settingsSchema } from "./schema.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * A file's settings with those of the environment over them; an empty variable says nothing.
 *
 * @throws PortolanError that names a variable that says what its field cannot, and never what stands in it
 */
export function overEnvironment(settings: Settings, env: Environment): Settings {
  let result: Readonly<Record<string, unknown>> = settings;
  for (const field of settingsFields()) {
    const name = variableOf(field, env);
    if (name === undefined) continue;
    const text = env[name] ?? "";
    const next = withField(result, field.path, valueOf(field, text));
    if (!settingsSchema.safeParse(next).success)
      throw new PortolanError(
        `${name} ${field.isSecret ? "" : `is ${JSON.stringify(text)}; it `}may be ${field.type.replaceAll("`", "")} (docs/reference/settings.md, ${field.path.join(".")})`,
      );
    result = next;
  }
  return settingsSchema.parse(result);
}

/** The variable that says a field; undefined where none does. */
const variableOf = (field: SettingsField, env: Environment): string | undefined =>
  field.env.find((one) => (env[one] ?? "") !== "");

/** Fields of a file for which a variable says something else, which counts. */
export const overridden = (
  settings: Settings,
  env: Environment,
): readonly { readonly path: readonly string[]; readonly variable: string }[] =>
  settingsFields().flatMap((field) => {
    const [variable, value] = [variableOf(field, env), valueAt(settings, field.path)];
    if (variable === undefined || value === undefined || env[variable] === textOf(value)) return [];
    return [{ path: field.path, variable }];
  });

/** What a variable says, in the type of its field; the text itself where it says something else. */
function valueOf({ type }: SettingsField, text: string): unknown {
  if (/^\d+ to \d+$/.test(type)) return /^\d{1,16}$/.test(text) ? Number(text) : text;
  if (type === "true or false") return text === "true" ? true : text === "false" ? false : text;
  if (type.startsWith("list of")) return text.split(",");
  if (type === "object") return jsonIn(text) ?? text;
  return text;
}

/**
 * Settings with what stands in the files that they name after an `@`.
 *
 * @param read gives the text of a setting, which stands in a field; or throws
 */
export function withFiles(
  settings: Settings,
  read: (setting: string, path: readonly string[]) => string | undefined,
): Settings {
  let result: Readonly<Record<string, unknown>> = settings;
  for (const { path, takesFile } of settingsFields()) {
    const value = valueAt(settings, path);
    if (takesFile && typeof value === "string") result = withField(result, path, read(value, path));
  }
  return settingsSchema.parse(result);
}

const valueAt = (settings: Settings, path: readonly string[]): unknown =>
  path.reduce<unknown>((of, step) => (isFields(of) ? of[step] : undefined), settings);

function withField(
  of: Readonly<Record<string, unknown>>,
  [step = "", ...rest]: readonly string[],
  value: unknown,
): Readonly<Record<string, unknown>> {
  const inner = of[step];
  return { ...of, [step]: rest.length === 0 ? value : withField(isFields(inner) ? inner : {}, rest, value) };
}

/**
 * The variables that say what settings say, for programs that read no file: each field's first.
 *
 * @param nameOf which variable a field has; `undefined` for none
 */
export function environmentOf(
  settings: Settings,
  nameOf: (field: SettingsField) => string | undefined = ({ env }) => env[0],
): Readonly<Record<string, string>> {
  const entries = settingsFields().flatMap((field): readonly (readonly [string, string])[] => {
    const name = nameOf(field);
    const value = valueAt(settings, field.path);
    return name === undefined || value === undefined ? [] : [[name, textOf(value)]];
  });
  return Object.fromEntries(entries);
}

const textOf = (value: unknown): string =>
  Array.isArray(value) ? value.join(",") : typeof value === "object" ? JSON.stringify(value) : String(value);
