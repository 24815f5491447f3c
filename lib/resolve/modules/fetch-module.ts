import { blobKey, hashOf } from "../../base/blob.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { maxModuleBytes, type WantedModule } from "../../config/kinds/wasm-module.ts";
import type { SecretStore } from "../../secrets/secret-store.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { boundedTag, type Fetch, type FetchRules, fetchAnswer } from "../fetch-text.ts";
import { readImageReference } from "./image-reference.ts";
import { bytesOf, checkedModule } from "./module-bytes.ts";
import { pullCredentials } from "./pull-credentials.ts";
import { pullImage } from "./pull-image.ts";

/** Of one look-up: an image may have 64 MiB. */
export const moduleWithinMs = 30_000;

/** What is stored of a module. */
export interface ModuleState {
  /** SHA-256 of what was fetched last, lower-case hex; absent: nothing was. */
  readonly sha256?: string;
  /** As of a module that is known. */
  readonly etag?: string;
}

/** What is known of a module. */
export interface KnownModule {
  /** SHA-256, lower-case hex. */
  readonly sha256: string;
  /** Tag of the answer, or digest of the image's manifest, that it was read from. */
  readonly etag?: string | undefined;
}

export interface ModuleTools {
  readonly fetch: Fetch;
  readonly rules: FetchRules;
  /** Where modules are kept, as blobs. */
  readonly store: ObjectStore;
  /** Credentials of registries; absent: none can be read. */
  readonly secrets?: Pick<SecretStore, "get"> | undefined;
  /** Of a module, in bytes; 64 MiB when absent. */
  readonly maxModuleBytes?: number | undefined;
}

/**
 * Fetches a module and keeps it under its hash. What was fetched before is fetched again only where it is asked for anew each time, or is
 * gone: garbage collection may have deleted what nothing wanted until just now.
 *
 * @throws PortolanError that says what to do
 */
export async function fetchModule(
  wanted: WantedModule,
  known: KnownModule | undefined,
  tools: ModuleTools,
): Promise<KnownModule> {
  const isThere = known !== undefined && (await isKept(tools.store, known.sha256));
  if (isThere && wanted.always === undefined) return known;
  const fetched = await (/^https?:\/\//i.test(wanted.url) ? overHttp : fromRegistry)(
    wanted,
    isThere ? known.etag : undefined,
    tools,
  );
  if (fetched === undefined) {
    if (known === undefined)
      throw new PortolanError(`${wanted.url} answers that nothing has changed, which was not asked`);
    return known;
  }
  const { bytes, etag, digests = [] } = fetched;
  const sha256 = hashOf(checkedModule(bytes, wanted.url));
  const hashes = [...digests, sha256];
  if (wanted.sha256 !== undefined && !hashes.includes(wanted.sha256))
    throw new PortolanError(`${wanted.url} has the SHA-256 ${hashes.join(", ")}, and ${wanted.sha256} is asked for`);
  await tools.store.put(blobKey(sha256), bytes);
  return { sha256, etag };
}

/** A list costs less than reading it. */
async function isKept(store: ObjectStore, sha256: string): Promise<boolean> {
  const wanted = blobKey(sha256);
  for await (const { key } of store.list(wanted)) return key === wanted;
  return false;
}

interface Fetched {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly etag: string | undefined;
  /** Of an image, hex: what its reference names, and its manifest. Istio holds the hash of an extension against these. */
  readonly digests?: readonly string[];
}

/** @returns undefined where it is what is known */
async function overHttp(
  { url, sha256 }: WantedModule,
  known: string | undefined,
  { fetch, rules, maxModuleBytes: maxBytes = maxModuleBytes }: ModuleTools,
): Promise<Fetched | undefined> {
  if (/^http:/i.test(url) && sha256 === undefined)
    throw new PortolanError(
      `${url} is clear text, in which code can be exchanged on its way; write its sha256, or https`,
    );
  const headers = {
    accept: "application/wasm, application/octet-stream;q=0.9, */*;q=0.1",
    ...(known === undefined ? {} : { "if-none-match": known }),
  };
  const signal = AbortSignal.timeout(rules.withinMs);
  const clear = { ...rules, takesClearText: sha256 !== undefined };
  return fetchAnswer(fetch, clear, { url, headersAt: () => headers, signal }, async (response, { href }) => {
    if (response.status === 304 && known !== undefined) return undefined;
    if (response.status !== 200) throw new PortolanError(`${href} answers ${response.status}`);
    return { bytes: await bytesOf(response.body, href, maxBytes), etag: boundedTag(response.headers.get("etag")) };
  });
}

async function fromRegistry(
  { url, pullSecret }: WantedModule,
  known: string | undefined,
  { fetch, rules, secrets, maxModuleBytes: maxBytes = maxModuleBytes }: ModuleTools,
): Promise<Fetched | undefined> {
  const { registry } = readImageReference(url);
  const credentials = pullSecret === undefined ? undefined : await pullCredentials(secrets, pullSecret, registry);
  const signal = AbortSignal.timeout(rules.withinMs);
  const pulled = await pullImage(url, { fetch, rules, credentials, signal, known, maxBytes });
  if (pulled.kind === "unchanged") return undefined;
  const { bytes, manifest, image } = pulled;
  const digests = [...new Set([manifest, image])].map((digest) => digest.slice("sha256:".length));
  return { bytes, etag: manifest, digests };
}
