import { PortolanError } from "../../base/diagnostic.ts";
import { type Fields, fieldsOf, listOf, textOf } from "../../base/untyped.ts";
import { normalPem, pemBlocks } from "../../ca/authority.ts";
import type { ApiClient, ApiFailure } from "../../registry/kubernetes/api/client.ts";
import { ignoredNamespaces } from "../../registry/kubernetes/injection.ts";
import { defaultPace, type Pace } from "../../registry/origin/retry.ts";
import { type ClusterPasses, createClusterPasses } from "../cluster-passes.ts";
import { objectsOf, requestOf } from "../cluster-requests.ts";

export interface RootCertOptions {
  readonly client: ApiClient;
  /** What workloads trust, PEM each. @throws PortolanError while the CA cannot be read */
  readonly roots: () => Promise<readonly string[]>;
  /** Milliseconds between looks at the namespaces and the roots; 5,000 when absent. */
  readonly everyMs?: number;
  /** Milliseconds after which what stands in every namespace is read again; 60,000 when absent. */
  readonly againMs?: number;
  readonly pace?: Pace;
  readonly now?: () => number;
  /** Told after ConfigMaps were written. */
  readonly wrote?: (count: number) => void;
  /** Told when something begins to go wrong, or is otherwise wrong than before; "" when all is well again. */
  readonly troubled?: (reason: string) => void;
}

const name = "istio-ca-root-cert";
const key = "root-cert.pem";
/** Whose fields they are, for the server. */
const manager = "portolan-root-cert";
const namespacesResource = { path: "/api/v1/namespaces", apiVersion: "v1", kind: "Namespace", metadataOnly: true };
const rootCertResource = {
  path: "/api/v1/configmaps",
  apiVersion: "v1",
  kind: "ConfigMap",
  fieldSelector: `metadata.name=${name}`,
};

/**
 * Writes the roots of the mesh's CA into every namespace, where pods take them from.
 *
 * One ConfigMap in each namespace that is not on its way out, and is none of those that Istio leaves out. Of a ConfigMap only its own key is
 * written, nothing is deleted, and roots that another program wrote stay where this CA has not got them: pods trust them.
 */
export function createRootCertWriter(options: RootCertOptions): ClusterPasses {
  const {
    client,
    roots,
    everyMs = 5_000,
    againMs = 60_000,
    pace = defaultPace,
    now = () => performance.now(),
  } = options;
  /** Namespaces, by their uid, that nothing is left to do about. */
  const settled = new Set<string>();
  let text = "";
  let lookedMs = Number.NEGATIVE_INFINITY;

  async function write(namespace: string, there: Fields | undefined): Promise<ApiFailure | undefined> {
    // Who has written the key before does not matter where its roots are among ours.
    const path = `/api/v1/namespaces/${namespace}/configmaps/${name}?fieldManager=${manager}&force=true`;
    const metadata = { name, namespace, labels: { "istio.io/config": "true" } };
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { [key]: text } };
    const contentType = "application/apply-patch+yaml";
    if (there !== undefined && textOf(fieldsOf(there.data)[key]) === text) return undefined;
    const answer = await requestOf(client, path, { method: "PATCH", body, contentType });
    return "failure" in answer ? answer.failure : undefined;
  }

  /** @returns why namespaces did not get the roots, "" where all have them @throws PortolanError when nothing can be said */
  async function pass(): Promise<string> {
    const wanted = (await roots()).map(normalPem).join("");
    if (wanted === "") throw new PortolanError("the CA has no roots");
    if (wanted !== text || now() - lookedMs > againMs) {
      settled.clear();
      lookedMs = now();
    }
    text = wanted;
    const namespaces = [...(await objectsOf(client, namespacesResource, pace)).values()]
      .map(({ metadata }) => fieldsOf(metadata))
      .filter((one) => one.deletionTimestamp === undefined && !ignoredNamespaces.has(textOf(one.name)));
    const lacking = namespaces.filter(({ uid }) => !settled.has(textOf(uid)));
    if (lacking.length === 0) return "";
    const found = await objectsOf(client, rootCertResource, pace);
    const thereIn = new Map<string, Fields>(
      [...found.values()].map((one) => [textOf(fieldsOf(one.metadata).namespace), one]),
    );
    const refusals: string[] = [];
    let written = 0;
    for (const { name: named, uid } of lacking) {
      const namespace = textOf(named);
      const there = thereIn.get(namespace);
      const strange = there === undefined ? undefined : strangeRoots(there, text);
      const failure = strange === undefined ? await write(namespace, there) : undefined;
      if (strange !== undefined) refusals.push(`${namespace}: ${strange}`);
      else if (failure === undefined) {
        settled.add(textOf(uid));
        if (there === undefined || textOf(fieldsOf(there.data)[key]) !== text) written += 1;
      } else if (!isGone(failure)) refusals.push(`${namespace}: ${failure.status} ${failure.message}`);
    }
    if (written > 0) options.wrote?.(written);
    const [first] = refusals;
    return first === undefined ? "" : `${refusals.length} namespaces did not get the roots; the first, ${first}`;
  }

  return createClusterPasses(pass, { everyMs, pace, troubled: options.troubled });
}

/** Roots in a ConfigMap that another program wrote and that are none of ours; undefined where it may be written. */
function strangeRoots({ metadata, data }: Fields, text: string): string | undefined {
  const isOurs = listOf(fieldsOf(metadata).managedFields)
    .map(fieldsOf)
    .some(
      (entry) => entry.manager === manager && fieldsOf(fieldsOf(entry.fieldsV1)["f:data"])[`f:${key}`] !== undefined,
    );
  const ours = new Set(pemBlocks(text, "CERTIFICATE"));
  const all = pemBlocks(textOf(fieldsOf(data)[key]), "CERTIFICATE");
  if (isOurs || all.every((root) => ours.has(root))) return undefined;
  return `its ${name} has a root of another CA, which pods there trust: import that CA, or delete the ConfigMap`;
}

/** The namespace has gone since it was listed, or is on its way. */
const isGone = ({ status, message }: ApiFailure): boolean =>
  status === 404 || (status === 403 && message.includes("because it is being terminated"));
