import { PortolanError } from "../config/diagnostic.ts";
import { fileStore } from "./files.ts";
import type { ObjectStore } from "./object-store.ts";

export interface PlaceOptions {
  /** An S3 server other than AWS's, which is then asked in path style. */
  readonly s3Endpoint?: string | undefined;
}

/**
 * The store that a text names: `s3://bucket/prefix`, or a folder.
 *
 * @throws PortolanError for any other scheme, and for a bucket without region or credentials
 */
export async function openStore(where: string, options: PlaceOptions = {}): Promise<ObjectStore> {
  const bucket = /^s3:\/\/([^/]+)\/?(.*)$/.exec(where);
  if (bucket === null) {
    if (/^[a-z0-9]+:\/\//.test(where)) throw new PortolanError(`a store of the kind ${where} is not known`);
    return fileStore(where);
  }
  // The SDK is large, and only needed for buckets.
  const { openBucketChecked } = await import("./open-bucket.ts");
  const [, name = "", prefix = ""] = bucket;
  return openBucketChecked({ bucket: name, prefix, endpoint: options.s3Endpoint });
}
