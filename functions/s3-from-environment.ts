import { S3Client } from "@aws-sdk/client-s3";
import { PortolanError } from "../lib/config/diagnostic.ts";
import type { ObjectStore } from "../lib/storage/object-store.ts";
import { s3Store } from "../lib/storage/s3.ts";

/**
 * The store that the environment names: `PORTOLAN_BUCKET`, `PORTOLAN_PREFIX`, and `PORTOLAN_S3_ENDPOINT` for a server other
 * than AWS's, which is then asked in path style. Region and credentials come as the SDK finds them.
 */
export function s3FromEnvironment(): ObjectStore {
  const { PORTOLAN_BUCKET: bucket = "", PORTOLAN_PREFIX: prefix = "", PORTOLAN_S3_ENDPOINT: endpoint } = process.env;
  if (bucket === "") throw new PortolanError("PORTOLAN_BUCKET names no bucket");
  const client = new S3Client(endpoint === undefined ? {} : { endpoint, forcePathStyle: true });
  return s3Store({ client, bucket, prefix });
}
