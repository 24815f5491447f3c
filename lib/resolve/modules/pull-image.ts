import { answerText } from "../../base/answer-text.ts";
import { hashOf } from "../../base/blob.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { type Fields, fieldsOf, isFields, jsonIn, listIn, numberOf, textOf } from "../../base/untyped.ts";
import type { Fetch, FetchRules } from "../fetch-text.ts";
import { readImageReference } from "./image-reference.ts";
import { bytesOf, tooLarge } from "./module-bytes.ts";
import { type RegistryCredentials, type RegistrySession, registrySession } from "./registry-session.ts";
import { unpackLayer } from "./unpack-layer.ts";

const manifestTypes = [
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
];
const indexTypes = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
];
const accepted = [...manifestTypes, ...indexTypes].join(", ");

/** Layers that are the module itself. */
const moduleTypes: ReadonlySet<string> = new Set([
  "application/vnd.module.wasm.content.layer.v1+wasm",
  "application/vnd.wasm.content.layer.v1+wasm",
  "application/wasm",
]);
/** Layers of files. */
const tarType = /^application\/vnd\.(?:oci\.image\.layer\.v1\.tar|docker\.image\.rootfs\.diff\.tar)(?:[.+]gzip)?$/;

const maxManifestBytes = 4 * 1024 * 1024;
const digestForm = /^sha256:([0-9a-f]{64})$/;

export type PulledImage =
  | { readonly kind: "unchanged" }
  /** `manifest` is the digest of what the reference names, `image` that of the image in it where it is an index; else the same. */
  | {
      readonly kind: "module";
      readonly bytes: Uint8Array<ArrayBuffer>;
      readonly manifest: string;
      readonly image: string;
    };

export interface PullOptions {
  readonly fetch: Fetch;
  readonly rules: FetchRules;
  readonly credentials: RegistryCredentials | undefined;
  readonly signal: AbortSignal;
  /** Digest of the manifest that is known. */
  readonly known: string | undefined;
  /** Of the module, and of the layer that it is in. */
  readonly maxBytes: number;
}

/**
 * Pulls the module of an image: from a layer that is one, else the file plugin.wasm of its last layer. Everything is checked against the
 * digest by which it is named.
 *
 * @throws PortolanError that says which registry did what
 */
export async function pullImage(
  url: string,
  { fetch, rules, credentials, signal, known, maxBytes }: PullOptions,
): Promise<PulledImage> {
  const image = readImageReference(url);
  const session = registrySession(fetch, rules, image, credentials, signal);
  const first = await readManifest(session, image.reference, url);
  if (first.digest === known) return { kind: "unchanged" };
  const manifests = listIn(first.manifest, "manifests").filter(isFields);
  const chosenImage =
    manifests.length === 0 ? first : await readManifest(session, textOf(chosen(manifests)?.digest), url);
  const layers = listIn(chosenImage.manifest, "layers").filter(isFields);
  const typeOf = (layer: Fields) => textOf(layer.mediaType);
  const own = layers.find((layer) => moduleTypes.has(typeOf(layer)));
  const layer = own ?? layers.at(-1);
  if (layer === undefined || (own === undefined && !tarType.test(typeOf(layer))))
    throw new PortolanError(`${url} has no layer with a module: none is of a type that a module or plugin.wasm is in`);
  const bytes = await readModule(session, layer, { url, maxBytes, isPacked: own === undefined });
  return { kind: "module", bytes, manifest: first.digest, image: chosenImage.digest };
}

/** Of the images of an index the one for WebAssembly, else the first. */
const chosen = (manifests: readonly Fields[]): Fields | undefined =>
  manifests.find(({ platform }) => textOf(fieldsOf(platform).architecture).startsWith("wasm")) ?? manifests[0];

interface ReadManifest {
  readonly manifest: Fields;
  readonly digest: string;
}

async function readManifest(session: RegistrySession, reference: string, url: string): Promise<ReadManifest> {
  const text = await session.read(`manifests/${reference}`, accepted, (response) =>
    answerText(response, maxManifestBytes),
  );
  const manifest = text === undefined ? undefined : jsonIn(text);
  if (text === undefined || !isFields(manifest)) throw new PortolanError(`${url} has no manifest that can be read`);
  const digest = `sha256:${hashOf(text)}`;
  if (digestForm.test(reference) && digest !== reference)
    throw new PortolanError(`the manifest of ${url} is ${digest}, and was asked for as ${reference}`);
  return { manifest, digest };
}

async function readModule(
  session: RegistrySession,
  layer: Fields,
  { url, maxBytes, isPacked }: { readonly url: string; readonly maxBytes: number; readonly isPacked: boolean },
): Promise<Uint8Array<ArrayBuffer>> {
  const digest = textOf(layer.digest);
  const sha256 = digestForm.exec(digest)?.[1];
  if (sha256 === undefined) throw new PortolanError(`${url} has a layer without a digest of SHA-256`);
  const what = `the layer of ${url}`;
  const said = numberOf(layer.size);
  const size = Number.isSafeInteger(said) && Number(said) >= 0 ? said : undefined;
  if (size !== undefined && size > maxBytes) throw tooLarge(what, maxBytes);
  const bytes = await session.read(`blobs/${digest}`, "*/*", ({ body }) => bytesOf(body, what, maxBytes, size));
  const found = hashOf(bytes);
  if (found !== sha256) throw new PortolanError(`${what} is sha256:${found}, and its manifest has ${digest}`);
  return isPacked ? unpackLayer(bytes, what, maxBytes) : bytes;
}
