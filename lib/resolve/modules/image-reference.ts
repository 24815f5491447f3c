import { PortolanError } from "../../base/diagnostic.ts";

/** Where an image lies. */
export interface ImageReference {
  /** Host, with its port where one is written. */
  readonly registry: string;
  readonly repository: string;
  /** Tag, or digest as `sha256:<hex>`. */
  readonly reference: string;
  /** Whether the reference is a digest, which names one content for ever. */
  readonly isDigest: boolean;
}

const repositoryForm = /^[a-z0-9]+(?:[._/-]+[a-z0-9]+)*$/;
const tagForm = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
const digestForm = /^sha256:[0-9a-f]{64}$/;

/** Docker's own registry, and where it is asked. */
const dockerHub = "docker.io";
const dockerHubHost = "registry-1.docker.io";

/**
 * Reads `oci://registry/repository:tag` and `…@sha256:digest`; without a registry Docker's own is meant, and without a tag `latest`.
 *
 * @throws PortolanError for what names no image
 */
export function readImageReference(url: string): ImageReference {
  const text = url.replace(/^oci:\/\//i, "");
  const [name = "", digest, ...rest] = text.split("@");
  const parts = name.split("/");
  const [first = ""] = parts;
  const hasRegistry = parts.length > 1 && (/[.:]/.test(first) || first === "localhost");
  const registry = hasRegistry ? first : dockerHub;
  const [path = "", tag = "latest", ...more] = (hasRegistry ? parts.slice(1) : parts).join("/").split(":");
  const isHub = registry === dockerHub || registry === "index.docker.io";
  const repository = isHub && !path.includes("/") ? `library/${path}` : path;
  const isRight =
    rest.length + more.length === 0 &&
    repository.length <= 255 &&
    repositoryForm.test(repository) &&
    (digest === undefined ? tagForm.test(tag) : digestForm.test(digest)) &&
    URL.canParse(`https://${registry}`);
  if (!isRight)
    throw new PortolanError(
      `${url} names no image; write oci://REGISTRY/REPOSITORY:TAG or oci://REGISTRY/REPOSITORY@sha256:DIGEST`,
    );
  return {
    registry: isHub ? dockerHubHost : registry,
    repository,
    reference: digest ?? tag,
    isDigest: digest !== undefined,
  };
}
