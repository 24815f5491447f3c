import { PortolanError } from "../../base/diagnostic.ts";
import type { SecretStore } from "../../secrets/secret-store.ts";
import { secretsFromSetting } from "../../secrets/secrets-from-setting.ts";
import type { KeyServices } from "../../secrets/wrapping-keys.ts";
import type { ObjectStore } from "../../storage/object-store.ts";

/**
 * The Secrets with credentials of registries. A key that cannot be used here, or is none, is no reason not to compile: who wants a
 * Secret is told.
 *
 * @param name of the setting, for messages
 */
export function pullSecrets(
  store: ObjectStore,
  setting: string | undefined,
  name: string,
  services?: KeyServices,
): { readonly secrets?: Pick<SecretStore, "get"> } {
  try {
    return secretsFromSetting(store, setting, name, services);
  } catch (cause) {
    if (!(cause instanceof PortolanError)) throw cause;
    return { secrets: { get: () => Promise.reject(cause) } };
  }
}
