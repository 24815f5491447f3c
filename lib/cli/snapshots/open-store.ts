import type { ObjectStore } from "../../storage/object-store.ts";
import { openStore as openPlace } from "../../storage/open-store.ts";

/** Text of the option that names a store, the same for every command. */
export const storeOption = "--store <where>";
export const storeDescription = "a folder, or s3://bucket/prefix (PORTOLAN_S3_ENDPOINT names another server)";
export const defaultStore = ".portolan/store";

/** The store that a person names on the command line. */
export const openStore = (where: string): Promise<ObjectStore> =>
  openPlace(where, { s3Endpoint: process.env.PORTOLAN_S3_ENDPOINT });
