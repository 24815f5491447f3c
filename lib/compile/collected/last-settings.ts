/** The last valid settings of a collected cluster's mesh, which its collector keeps beside its objects. */
import { errorsOf } from "../../base/diagnostic.ts";
import { fieldsOf, textOf } from "../../base/untyped.ts";
import { readMeshConfig, readMeshNetworks } from "../../config/read-mesh-config.ts";
import type { OriginObject } from "../../registry/origin/origin.ts";
import { packed, splitEntry } from "../../registry/origin/packed-object.ts";

/** The fields of the ConfigMap that hold settings. */
const fields = ["mesh", "meshNetworks"] as const;
export type SettingsField = (typeof fields)[number];

const prefix = "LastValidSettings/";
const keyOf = (field: SettingsField): string => `${prefix}${field}`;

/** Whether a key of a collected source is that of last valid settings, and of no object of its origin. */
export const isLastSettings = (key: string): boolean => key.startsWith(prefix);

/** The ConfigMap with the settings. */
export const settingsKey = "ConfigMap/istio-system/istio";

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
  /** Entries to compare with the store, with the valid settings among them. */
  beside(entries: ReadonlyMap<string, string>): ReadonlyMap<string, string>;
  /** Learns what the store has, from how it differs from what `beside` gave. */
  loaded(different: ReadonlyMap<string, string | undefined>): void;
  /**
   * Changes as they are to be written: valid settings come along. Settings that have errors, are gone or say nothing leave the last valid
   * ones in place, and so does a ConfigMap that is gone.
   */
  among(changes: ReadonlyMap<string, string | undefined>): ReadonlyMap<string, string | undefined>;
}

export function createLastSettings(): LastSettings {
  let settings: string | undefined;
  /** Entries of the last valid settings as they lie in the store, by key. */
  let last: ReadonlyMap<string, string> = new Map();
  return {
    beside(entries) {
      settings = entries.get(settingsKey);
      last = validOf(settings, new Map());
      return last.size === 0 ? entries : new Map([...entries, ...last]);
    },
    loaded(different) {
      const there = fields
        .map(keyOf)
        .map((key) => [key, different.has(key) ? different.get(key) : last.get(key)] as const);
      last = new Map(there.flatMap(([key, entry]) => (entry === undefined ? [] : [[key, entry] as const])));
    },
    among(changes) {
      if (![...changes.keys()].some((key) => key === settingsKey || isLastSettings(key))) return changes;
      if (changes.has(settingsKey)) settings = changes.get(settingsKey);
      const valid = validOf(settings, last);
      last = new Map([...last, ...valid]);
      return new Map([...[...changes].filter(([key]) => !isLastSettings(key)), ...valid]);
    },
  };
}

/** The entries of settings that are valid after the last ones. */
function validOf(entry: string | undefined, last: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const data = entry === undefined ? {} : fieldsOf(fieldsOf(JSON.parse(splitEntry(entry).json)).data);
  const valid = new Map<string, string>();
  for (const field of fields) {
    const text = data[field];
    if (typeof text === "string" && isValid(field, text, last.get(keyOf(field))))
      valid.set(keyOf(field), entryOf(field, text));
  }
  return valid;
}

function isValid(field: SettingsField, text: string, last: string | undefined): boolean {
  const before = last === undefined ? undefined : textOf(fieldsOf(JSON.parse(splitEntry(last).json)).text);
  const { diagnostics } =
    field === "mesh" ? readMeshConfig(text, undefined, before) : readMeshNetworks(text, undefined, before);
  return errorsOf(diagnostics).length === 0;
}

const entryOf = (field: SettingsField, text: string): string => {
  const metadata = { name: field };
  const object = { apiVersion: "internal.portolan.dev/v1", kind: "LastValidSettings", metadata, text };
  return packed({ key: keyOf(field), version: "", object }).entry;
};
