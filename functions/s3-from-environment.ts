import { PortolanError } from "../lib/config/diagnostic.ts";
import type { ObjectStore } from "../lib/storage/object-store.ts";
import { openBucket } from "../lib/storage/open-bucket.ts";

/**
 * The store that the environment names: `PORTOLAN_BUCKET`, `PORTOLAN_PREFIX`, and `PORTOLAN_S3_ENDPOINT` for a server other
 * than AWS's. Region and credentials come as the SDK finds them.
 */
export function s3FromEnvironment(): ObjectStore {
  const { PORTOLAN_BUCKET: bucket = "", PORTOLAN_PREFIX: prefix = "", PORTOLAN_S3_ENDPOINT: endpoint } = process.env;
  if (bucket === "") throw new PortolanError("PORTOLAN_BUCKET names no bucket");
  return openBucket({ bucket, prefix, endpoint });
}
