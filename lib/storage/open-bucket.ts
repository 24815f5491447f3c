import { S3Client } from "@aws-sdk/client-s3";
import type { ObjectStore } from "./object-store.ts";
import { s3Store } from "./s3.ts";

export interface Bucket {
  readonly bucket: string;
  /** The folder that the objects lie in, with or without a slash at its end; empty for the whole bucket. */
  readonly prefix: string;
  /** A server other than AWS's, which is then asked in path style. */
  readonly endpoint?: string | undefined;
}

/** A store in a bucket; region and credentials come as the SDK finds them. */
export function openBucket({ bucket, prefix, endpoint }: Bucket): ObjectStore {
  const client = new S3Client(endpoint === undefined ? {} : { endpoint, forcePathStyle: true });
  return s3Store({ client, bucket, prefix: prefix === "" || prefix.endsWith("/") ? prefix : `${prefix}/` });
}
