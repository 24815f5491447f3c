/** The last valid settings of a collected cluster's mesh, which its collector keeps beside its objects. */
import { readMeshConfig, readMeshNetworks } from "../../config/read-mesh-config.ts";
import { fieldsOf, textOf } from "../../config/untyped.ts";
import type { OriginObject } from "../../registry/origin.ts";
import { packed, splitEntry } from "../../registry/packed-object.ts";

/** The fields of the ConfigMap that hold settings. */
const fields = ["mesh", "meshNetworks"] as const;
export type SettingsField = (typeof fields)[number];

const prefix = "LastValidSettings/";
const keyOf = (field: SettingsField): string => `${prefix}${field}`;

/** Whether a key of a collected source is that of last valid settings, and of no object of its origin. */
export const isLastSettings = (key: string): boolean => key.startsWith(prefix);

/** Whether it is that of the settings: the only ConfigMap that is collected. */
const isSettings = (key: string): boolean => key.startsWith("ConfigMap/");

/** @returns undefined where none were valid yet */
export const lastSettingsIn = (
  objects: ReadonlyMap<string, OriginObject>,
  field: SettingsField,
): string | undefined => {
  const kept = objects.get(keyOf(field));
  return kept === undefined ? undefined : textOf(kept.object.text);
};

/** Follows what a collector writes. */
export interface LastSettings {
  /** Entries as they are to lie in the store, with the valid settings among them. */
  beside(entries: ReadonlyMap<string, string>): ReadonlyMap<string, string>;
  /** Changes as they are to be written: valid settings come along, and those that are not leave the last valid ones in place. */
  among(changes: ReadonlyMap<string, string | undefined>): ReadonlyMap<string, string | undefined>;
}

export function createLastSettings(): LastSettings {
  let settings: string | undefined;
  return {
    beside(entries) {
      settings = undefined;
      for (const [key, entry] of entries) if (isSettings(key)) settings = entry;
      const valid = [...keptFor(settings)].filter((one): one is [string, string] => one[1] !== undefined);
      return valid.length === 0 ? entries : new Map([...entries, ...valid]);
    },
    among(changes) {
      let isConcerned = false;
      let isTold = settings !== undefined;
      for (const [key, entry] of changes) {
        if (isSettings(key)) [settings, isTold] = [entry, true];
        isConcerned ||= isSettings(key) || isLastSettings(key);
      }
      if (!isConcerned) return changes;
      const own = [...changes].filter(([key]) => !isLastSettings(key));
      // Where the origin has never told of settings, what lies in the store stays.
      return isTold ? new Map([...own, ...keptFor(settings)]) : new Map(own);
    },
  };
}

/** What is to lie beside the settings: a valid text, nothing where there is none; no word of one with errors. */
function keptFor(entry: string | undefined): ReadonlyMap<string, string | undefined> {
  if (entry === undefined) return new Map(fields.map((field) => [keyOf(field), undefined]));
  const data = fieldsOf(fieldsOf(JSON.parse(splitEntry(entry).json)).data);
  const kept = new Map<string, string | undefined>();
  for (const field of fields) {
    const text = data[field];
    if (typeof text !== "string") kept.set(keyOf(field), undefined);
    else if (isValid(field, text)) kept.set(keyOf(field), entryOf(field, text));
  }
  return kept;
}

function isValid(field: SettingsField, text: string): boolean {
  const { diagnostics } = field === "mesh" ? readMeshConfig(text) : readMeshNetworks(text);
  return diagnostics.every(({ severity }) => severity !== "error");
}

const entryOf = (field: SettingsField, text: string): string => {
  const metadata = { name: field };
  const object = { apiVersion: "internal.portolan.dev/v1", kind: "LastValidSettings", metadata, text };
  return packed({ key: keyOf(field), version: "", object }).entry;
};
