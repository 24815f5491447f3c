import { byCodePoint } from "../../base/diagnostic.ts";
import { caSecretName, readSecretName, type SecretKey, type SecretQuestion } from "../../secrets/secret-name.ts";
import { objectKey, secretsPrefix } from "../../secrets/secret-store.ts";
import type { SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { counted } from "../numbers.ts";
import { nodeNamespaces } from "../snapshots/class-resources.ts";

/** A secret that resources of a version name, and the store has not; what a secret holds is not looked at. */
export interface MissingSecret extends SecretKey {
  /** Whether it is named for its CA alone. */
  readonly ca: boolean;
}

/** The secrets that proxies of a version ask for and the store does not have, by namespace and name. */
export async function missingSecrets(
  store: ObjectStore,
  reader: SnapshotReader,
  root: string,
): Promise<readonly MissingSecret[]> {
  const loaded = await reader.root(root);
  const naming = [...loaded.classes.values()].filter(({ secrets = [] }) => secrets.length > 0);
  if (naming.length === 0) return [];
  const namespaces = await nodeNamespaces(reader, loaded);
  const wanted = new Map<string, MissingSecret>();
  for (const { id, secrets = [] } of naming) {
    for (const text of secrets) {
      const question = readSecretName(text);
      if (question === undefined) continue;
      for (const namespace of question.namespace === undefined ? (namespaces.get(id) ?? []) : [question.namespace])
        wanted.set(`${namespace}/${text}`, { ...keyOf(question, namespace), ca: question.ca });
    }
  }
  const names = new Set([...wanted.values()].flatMap(keysOf));
  const there = new Set<string>();
  for await (const { key } of store.list(secretsPrefix)) if (names.has(key)) there.add(key);
  const missing = [...wanted.values()].filter((secret) => !keysOf(secret).some((key) => there.has(key)));
  const byText = new Map(missing.map((secret) => [`${secret.namespace}/${secret.name}`, secret]));
  return [...byText].sort(([a], [b]) => byCodePoint(a, b)).map(([, secret]) => secret);
}

const keyOf = ({ name }: SecretQuestion, namespace: string): SecretKey => ({ namespace, name });

/** Where a secret may lie: a CA has a secret of its own, or is beside the key pair. */
const keysOf = ({ namespace, name, ca }: MissingSecret): readonly string[] =>
  [name, ...(ca ? [caSecretName(name)] : [])].map((one) => objectKey({ namespace, name: one }));

/** Secrets that are named. */
const maxNamed = 10;

/** What is missing and what to do, on one line; "" where nothing is. */
export function missingSecretsText(missing: readonly MissingSecret[]): string {
  if (missing.length === 0) return "";
  const named = missing.slice(0, maxNamed).map(({ namespace, name }) => `${namespace}/${name}`);
  const more = missing.length > maxNamed ? ` and ${missing.length - maxNamed} more` : "";
  return `${counted(missing.length, "secret")} missing in the store: ${named.join(", ")}${more}; listeners and clusters that name one answer no TLS. Store it with \`portolan secret apply -f SECRET.yaml -n NAMESPACE\``;
}
