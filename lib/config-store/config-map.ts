import type { Config } from "../config/config.ts";
import { keyOf } from "../config/config.ts";
import { byCodePoint, keyText, kindText } from "../config/diagnostic.ts";
import { storedText } from "../config/object-json.ts";
import type { ConfigEvent } from "./config-store.ts";

/** Configs by `keyText`. */
export type ConfigMap = ReadonlyMap<string, Config>;

export function configMap(configs: readonly Config[]): ConfigMap {
  return new Map(configs.map((config) => [keyText(keyOf(config)), config]));
}

/** Objects of a kind, by namespace, then name. */
export function listKind(configs: ConfigMap, kind: string, namespace: string | undefined): readonly Config[] {
  const found: Config[] = [];
  for (const config of configs.values()) {
    if (kindText(config.meta) !== kind) continue;
    if (namespace === undefined || namespace === "" || config.meta.namespace === namespace) found.push(config);
  }
  return found.sort((a, b) => byCodePoint(a.meta.namespace, b.meta.namespace) || byCodePoint(a.meta.name, b.meta.name));
}

/** What turns one content into another, sorted by key; revisions do not count as a difference. */
export function diffConfigs(before: ConfigMap, after: ConfigMap): readonly ConfigEvent[] {
  const keys = [...new Set([...before.keys(), ...after.keys()])].sort(byCodePoint);
  return keys.flatMap((key): readonly ConfigEvent[] => {
    const old = before.get(key);
    const current = after.get(key);
    if (current === undefined) return old === undefined ? [] : [{ kind: "delete", current: old }];
    if (old === undefined) return [{ kind: "add", current }];
    return old === current || storedText(old) === storedText(current) ? [] : [{ kind: "update", old, current }];
  });
}
