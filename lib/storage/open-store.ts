import { unreachable } from "../base/diagnostic.ts";
import { fileStore } from "./files/files.ts";
import { lacking } from "./lacking.ts";
import type { ObjectStore } from "./object-store.ts";
import { readStoreLocation } from "./store-location.ts";

export interface PlaceOptions {
  /** An S3 server other than AWS's, for buckets that name none themselves; it is asked in path style. */
  readonly s3Endpoint?: string | undefined;
  /** Of a folder: it is somebody else's, and never begun here. */
  readonly isThere?: boolean;
}

/**
 * The store that a text names: a folder, or a URL as `readStoreLocation` has it.
 *
 * @throws PortolanError for any other text, and for a bucket or container without credentials, with what to set
 */
export async function openStore(where: string, options: PlaceOptions = {}): Promise<ObjectStore> {
  const location = readStoreLocation(where);
  // Clients of clouds are large, so each is loaded when a store of its kind is opened.
  switch (location.kind) {
    case "folder":
      return fileStore(location.path, options);
    case "s3": {
      const { openBucketChecked } = await import("./open-bucket.ts");
      return openBucketChecked({ ...location, endpoint: location.endpoint ?? options.s3Endpoint });
    }
    case "gs": {
      const { openGcs } = await import("./open-gcs.ts").catch(lacking("google-auth-library"));
      return openGcs(location);
    }
    case "az": {
      const { openAzure } = await import("./open-azure.ts").catch(lacking("@azure/storage-blob"));
      return openAzure(location);
    }
    default:
      return unreachable(location);
  }
}
