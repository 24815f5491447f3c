import { PortolanError } from "../config/diagnostic.ts";
import { readBucketPlace } from "./bucket-place.ts";
import { fileStore } from "./files.ts";
import type { ObjectStore } from "./object-store.ts";

export interface PlaceOptions {
  /** An S3 server other than AWS's, for buckets that name none themselves; it is asked in path style. */
  readonly s3Endpoint?: string | undefined;
  /** Of a folder: it is somebody else's, and never begun here. */
  readonly isThere?: boolean;
}

/**
 * The store that a text names: `s3://bucket/prefix`, as `readBucketPlace` has it, or a folder.
 *
 * @throws PortolanError for any other scheme, and for a bucket without region or credentials
 */
export async function openStore(where: string, options: PlaceOptions = {}): Promise<ObjectStore> {
  const bucket = readBucketPlace(where);
  if (bucket === undefined) {
    refuseUnknownStore(where);
    return fileStore(where, options);
  }
  // The SDK is large, and only needed for buckets.
  const { openBucketChecked } = await import("./open-bucket.ts");
  return openBucketChecked({ ...bucket, endpoint: bucket.endpoint ?? options.s3Endpoint });
}

/** @throws PortolanError for a text that names neither a folder nor a bucket */
export function refuseUnknownStore(where: string): void {
  if (readBucketPlace(where) !== undefined || !/^[a-z0-9]+:\/\//.test(where)) return;
  if (where.startsWith("s3://")) throw new PortolanError(`${where} names no bucket: write s3://BUCKET/PREFIX`);
  throw new PortolanError(`a store of the kind ${where} is not known`);
}
