import { jsonIn } from "../base/untyped.ts";
import type { WorldOptions } from "../compile/world/world-of.ts";
import { choiceIn } from "../config/setting-values.ts";
import { readInjectionValues } from "../injection/values.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { type AdmissionOptions, admissionApp } from "./app.ts";
import { createWorldReader } from "./world-reader.ts";

/** Settings of the webhooks on platforms that have variables alone, by the names that a Worker has. */
export interface AdmissionSettings {
  readonly PORTOLAN_ADMISSION_TOKEN?: string | undefined;
  readonly ADMISSION_WORKLOADS?: string | undefined;
  readonly ADMISSION_WORLD?: string | undefined;
  /** Values for injection, as JSON. */
  readonly ADMISSION_INJECTION?: string | undefined;
}

export interface FunctionOptions {
  readonly store: ObjectStore;
  readonly sources: readonly string[];
  readonly world: WorldOptions;
  readonly onError: (cause: unknown) => void;
}

/**
 * The webhooks in a function that anybody may reach: only with a token.
 *
 * @param prefix of the names of variables in messages
 * @returns undefined where no token is set
 * @throws PortolanError that names a variable with a value that it cannot have
 */
export function admissionFromSettings(
  settings: AdmissionSettings,
  { store, sources, world: options, onError }: FunctionOptions,
  prefix = "",
): ReturnType<typeof admissionApp> | undefined {
  const token = settings.PORTOLAN_ADMISSION_TOKEN ?? "";
  const workloads = choiceIn(`${prefix}ADMISSION_WORKLOADS`, settings.ADMISSION_WORKLOADS, ["allow", "refuse"]);
  const looks = choiceIn(`${prefix}ADMISSION_WORLD`, settings.ADMISSION_WORLD, ["on", "off"]) !== "off";
  const values = settings.ADMISSION_INJECTION ?? "";
  const injection =
    values === "" ? {} : { injection: readInjectionValues(jsonIn(values), `${prefix}ADMISSION_INJECTION`) };
  if (token === "") return undefined;
  const world = looks ? { world: createWorldReader({ store, sources, options, now: () => performance.now() }) } : {};
  const admission: AdmissionOptions = { ...world, ...injection, workloads: workloads ?? "allow", token, onError };
  return admissionApp(admission);
}
