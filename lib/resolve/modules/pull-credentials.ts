import { fromBase64 } from "../../base/base64.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { fieldsOf, isFields, jsonIn, textOf } from "../../base/untyped.ts";
import type { SecretStore } from "../../secrets/secret-store.ts";
import { pullSecretValue } from "../../secrets/tls-secret.ts";
import type { RegistryCredentials } from "./registry-session.ts";

/**
 * The credentials for a registry that a Secret of type `kubernetes.io/dockerconfigjson` holds.
 *
 * @param pullSecret `namespace/name`
 * @param registry host, with its port where it has one
 * @throws PortolanError where it has none, or cannot be read; messages hold nothing of what is in it
 */
export async function pullCredentials(
  secrets: Pick<SecretStore, "get"> | undefined,
  pullSecret: string,
  registry: string,
): Promise<RegistryCredentials> {
  const [namespace = "", name = ""] = pullSecret.split("/");
  if (secrets === undefined)
    throw new PortolanError(
      `its imagePullSecret ${pullSecret} cannot be read: this process has no key to secrets (PORTOLAN_SECRETS_KEY)`,
    );
  const stored = await secrets.get({ namespace, name });
  if (stored === undefined)
    throw new PortolanError(
      `its imagePullSecret ${pullSecret} was not given: \`portolan secret apply -f secret.yaml -n ${namespace}\``,
    );
  const bytes = fromBase64(stored.secret.values[pullSecretValue] ?? "");
  const auths = fieldsOf(fieldsOf(bytes === undefined ? undefined : jsonIn(new TextDecoder().decode(bytes))).auths);
  const [, entry] = Object.entries(auths).find(([place]) => hostOf(place) === registryHost(registry)) ?? [];
  const found = isFields(entry) ? credentialsOf(entry.username, entry.password, entry.auth) : undefined;
  if (found === undefined)
    throw new PortolanError(`the Secret ${pullSecret} has no credentials for ${registry} in ${pullSecretValue}`);
  return found;
}

function credentialsOf(username: unknown, password: unknown, auth: unknown): RegistryCredentials | undefined {
  if (typeof username === "string" && typeof password === "string") return { username, password };
  const bytes = fromBase64(textOf(auth));
  const text = bytes === undefined ? "" : new TextDecoder().decode(bytes);
  const colon = text.indexOf(":");
  return colon < 0 ? undefined : { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** Entries are hosts or, by old custom, URLs: `https://index.docker.io/v1/`. */
const hostOf = (place: string): string =>
  registryHost(
    place
      .replace(/^[a-z]+:\/\//i, "")
      .replace(/\/.*$/s, "")
      .toLowerCase(),
  );

/** Docker's own registry has three names. */
const registryHost = (host: string): string =>
  ["docker.io", "index.docker.io", "registry-1.docker.io"].includes(host) ? "docker.io" : host;
