import { causeText } from "../lib/base/cause-text.ts";
import { PortolanError } from "../lib/base/diagnostic.ts";
import type { ObjectStore } from "../lib/storage/object-store.ts";
import { openBucket } from "../lib/storage/open-bucket.ts";
import { prefixIn, readStoreLocation } from "../lib/storage/store-location.ts";

/**
 * The store that the environment names: `PORTOLAN_BUCKET`, `PORTOLAN_PREFIX`, and `PORTOLAN_S3_ENDPOINT` for a server other
 * than AWS's. Region and credentials come as the SDK finds them.
 */
export function s3FromEnvironment(): ObjectStore {
  const { PORTOLAN_BUCKET: bucket = "", PORTOLAN_PREFIX: prefix = "", PORTOLAN_S3_ENDPOINT: endpoint } = process.env;
  if (bucket === "") throw new PortolanError("PORTOLAN_BUCKET names no bucket");
  return openBucket({ bucket, prefix: prefixIn("PORTOLAN_PREFIX", prefix), endpoint });
}

/** A copy of it in another region, which `PORTOLAN_STORE_COPY` names: `s3://bucket/prefix?region=REGION`. @returns undefined where there is none */
export function copyFromEnvironment(): ObjectStore | undefined {
  const { PORTOLAN_STORE_COPY: place = "", PORTOLAN_S3_ENDPOINT: endpoint } = process.env;
  if (place === "") return undefined;
  try {
    const location = readStoreLocation(place, ["s3"]);
    return openBucket({ ...location, endpoint: location.endpoint ?? endpoint });
  } catch (cause) {
    throw new PortolanError(`PORTOLAN_STORE_COPY: ${causeText(cause)}`, [], cause);
  }
}
