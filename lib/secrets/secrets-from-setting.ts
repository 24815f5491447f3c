import type { ObjectStore } from "../storage/object-store.ts";
import { environmentKeys } from "./key-wrapper.ts";
import { type SecretStore, secretStore } from "./secret-store.ts";

/**
 * The secrets in a store, if the environment holds the key to them.
 *
 * @throws PortolanError for a setting that holds something else
 */
export function secretsFromSetting(
  store: ObjectStore,
  setting: string | undefined,
  name: string,
): { readonly secrets?: SecretStore } {
  if (setting === undefined || setting.trim() === "") return {};
  return { secrets: secretStore(store, environmentKeys(setting, name)) };
}
