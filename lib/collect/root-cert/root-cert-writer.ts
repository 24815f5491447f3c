import { causeText } from "../../base/cause-text.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { type Fields, fieldsOf, listOf, textOf } from "../../base/untyped.ts";
import { normalPem, pemBlocks } from "../../ca/authority.ts";
import { type ApiClient, type ApiFailure, type ApiRequest, send } from "../../registry/kubernetes/api/client.ts";
import type { ApiItem } from "../../registry/kubernetes/api/item.ts";
import { listItems } from "../../registry/kubernetes/api/list.ts";
import type { ApiResource } from "../../registry/kubernetes/api/resource.ts";
import { ignoredNamespaces } from "../../registry/kubernetes/injection.ts";
import { defaultPace, type Pace } from "../../registry/origin/retry.ts";

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

/** Writes the roots of the mesh's CA into every namespace, where pods take them from. */
export interface RootCertWriter {
  /** Until the signal says stop. */
  run(signal: AbortSignal): Promise<void>;
  /** @throws PortolanError when a namespace did not get them */
  once(): Promise<void>;
}

const name = "istio-ca-root-cert";
const key = "root-cert.pem";
/** Whose fields they are, for the server. */
const manager = "portolan-root-cert";
const requestMs = 10_000;
const namespacesResource = { path: "/api/v1/namespaces", apiVersion: "v1", kind: "Namespace", metadataOnly: true };
const rootCertResource = {
  path: "/api/v1/configmaps",
  apiVersion: "v1",
  kind: "ConfigMap",
  fieldSelector: `metadata.name=${name}`,
};

/**
 * One ConfigMap in each namespace that is not on its way out, and is none of those that Istio leaves out. Of a ConfigMap only its own key is
 * written, nothing is deleted, and roots that another program wrote stay where this CA has not got them: pods trust them.
 */
export function createRootCertWriter(options: RootCertOptions): RootCertWriter {
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
  let told = "";

  const ask = (path: string, request: ApiRequest = {}) =>
    send(client, path, { ...request, signal: AbortSignal.timeout(requestMs) }).catch((cause: unknown) => {
      throw new PortolanError(`${path} cannot be asked for: ${causeText(cause)}`, [], cause);
    });

  /** @throws PortolanError where the server does not give all of them in time */
  async function listed(resource: ApiResource): Promise<readonly Fields[]> {
    // A list that is begun anew, because its continuation has expired, has the same objects once more.
    const items = new Map<string, Fields>();
    const keep = (item: ApiItem) => {
      items.set(`${item.metadata.namespace ?? ""}/${item.metadata.name}`, item);
      return undefined;
    };
    await listItems(client, resource, { pace, keep }, AbortSignal.timeout(requestMs));
    return [...items.values()];
  }

  async function write(namespace: string, there: Fields | undefined): Promise<ApiFailure | undefined> {
    // Who has written the key before does not matter where its roots are among ours.
    const path = `/api/v1/namespaces/${namespace}/configmaps/${name}?fieldManager=${manager}&force=true`;
    const metadata = { name, namespace, labels: { "istio.io/config": "true" } };
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { [key]: text } };
    const contentType = "application/apply-patch+yaml";
    if (there !== undefined && textOf(fieldsOf(there.data)[key]) === text) return undefined;
    const answer = await ask(path, { method: "PATCH", body, contentType });
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
    const namespaces = (await listed(namespacesResource))
      .map(({ metadata }) => fieldsOf(metadata))
      .filter((one) => one.deletionTimestamp === undefined && !ignoredNamespaces.has(textOf(one.name)));
    const lacking = namespaces.filter(({ uid }) => !settled.has(textOf(uid)));
    if (lacking.length === 0) return "";
    const found = await listed(rootCertResource);
    const thereIn = new Map(found.map((one) => [textOf(fieldsOf(one.metadata).namespace), one]));
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

  const tell = (reason: string): void => {
    if (reason !== told) options.troubled?.(reason);
    told = reason;
  };

  return {
    async run(signal) {
      let failures = 0;
      while (!signal.aborted) {
        const reason = await pass().catch(causeText);
        if (signal.aborted) return;
        tell(reason);
        failures = reason === "" ? 0 : failures + 1;
        await pace.pause(failures === 0 ? everyMs : Math.max(everyMs, pace.backOff(failures)), signal);
      }
    },
    async once() {
      const reason = await pass();
      if (reason !== "") throw new PortolanError(reason);
    },
  };
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
