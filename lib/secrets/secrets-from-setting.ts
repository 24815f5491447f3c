import type { ObjectStore } from "../storage/object-store.ts";
import { type SecretStore, secretStore } from "./secret-store.ts";
import { type KeyServices, wrappingKeys } from "./wrapping-keys.ts";

/**
 * The secrets in a store, if a setting names the key to them.
 *
 * @throws PortolanError for a setting that holds something else, or a service that is not there
 */
export function secretsFromSetting(
  store: ObjectStore,
  setting: string | undefined,
  name: string,
  services: KeyServices = {},
): { readonly secrets?: SecretStore } {
  if (setting === undefined || setting.trim() === "") return {};
  return { secrets: secretStore(store, wrappingKeys(setting, name, services)) };
}
