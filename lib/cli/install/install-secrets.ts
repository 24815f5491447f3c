import { randomBytes } from "node:crypto";
import { PortolanError } from "../../base/diagnostic.ts";
import { type Fields, fieldsOf, textOf } from "../../base/untyped.ts";
import { apiError, jsonOf, send } from "../../registry/kubernetes/api/client.ts";
import type { KubeConnection } from "../kube/kube-connection.ts";
import { isOwn, objectName, readObject } from "./cluster-objects.ts";
import { type Installation, nameOf } from "./install-options.ts";

/** Keys of the Secret of each component. */
function secretKeysOf(of: Installation): Readonly<Record<string, readonly string[]>> {
  const name = nameOf(of);
  const sealing = of.features.has("ca") ? ["secrets-key"] : [];
  return {
    [`${name}-front`]: ["authentication.json", "front-secret", ...sealing],
    [`${name}-compile`]: ["webhook-secret", "front-secret"],
    ...(of.features.has("admission") ? { [`${name}-admission`]: ["secrets-key"] } : {}),
  };
}

/**
 * The Secrets with what they lack. What is in one stays as it is; a Secret that somebody else made is left alone.
 *
 * @param secretsKey what PORTOLAN_SECRETS_KEY says: the CA in the store is sealed with it
 * @returns those to apply
 * @throws PortolanError that names what is missing
 */
export async function missingSecrets(
  connection: KubeConnection,
  of: Installation,
  secretsKey: string | undefined,
): Promise<readonly Fields[]> {
  const found = await Promise.all(
    Object.entries(secretKeysOf(of)).map(async ([name, keys]) => {
      const object = secretObject(of, name, {});
      const there = await readObject(connection, objectName(object));
      return { name, keys, there, data: fieldsOf(there?.data) };
    }),
  );
  const known = Object.assign({}, ...found.map(({ data }) => data));
  const made: Record<string, string> = {};
  const valueOf = async (key: string): Promise<string> => {
    made[key] ??= textOf(known[key]) || Buffer.from(await newValue(connection, of, key, secretsKey)).toString("base64");
    return made[key];
  };
  const secrets: Fields[] = [];
  for (const { name, keys, there, data } of found) {
    const missing = keys.filter((key) => textOf(data[key]) === "");
    if (missing.length === 0) continue;
    if (there !== undefined && !isOwn(there, nameOf(of)))
      throw new PortolanError(
        `the Secret ${of.namespace}/${name} lacks ${missing.join(" and ")}, and is not of this installation: add what is missing`,
      );
    const entries = keys.map(async (key) => [key, textOf(data[key]) || (await valueOf(key))] as const);
    secrets.push(secretObject(of, name, Object.fromEntries(await Promise.all(entries))));
  }
  return secrets;
}

const secretObject = ({ namespace }: Installation, name: string, data: Fields): Fields => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace },
  data,
});

async function newValue(connection: KubeConnection, of: Installation, key: string, secretsKey = ""): Promise<string> {
  if (key === "authentication.json") {
    if (of.features.has("ca")) return authenticationOf(connection);
    throw new PortolanError(
      `make the Secret ${of.namespace}/${nameOf(of)}-front with authentication.json first (docs/security.md)`,
    );
  }
  if (key !== "secrets-key") return randomBytes(32).toString("base64url");
  if (secretsKey !== "") return secretsKey;
  throw new PortolanError(
    "set PORTOLAN_SECRETS_KEY to the key that seals the CA in the store: `portolan secret key` makes one",
  );
}

/** Tokens of the cluster's own service accounts, for which the API server has the keys. */
async function authenticationOf({ client }: KubeConnection): Promise<string> {
  const path = "/.well-known/openid-configuration";
  const answer = await send(client, path, {});
  if ("failure" in answer) throw apiError(path, answer.failure);
  const { issuer } = fieldsOf(await jsonOf(path, answer.response));
  const issuers = [{ issuer, audience: ["istio-ca", "portolan"], discovery: "cluster", clusterId: "Kubernetes" }];
  return JSON.stringify({ issuers });
}
