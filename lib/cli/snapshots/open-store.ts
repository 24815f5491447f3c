import { S3Client } from "@aws-sdk/client-s3";
import { fileStore } from "../../storage/files.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { s3Store } from "../../storage/s3.ts";

/** Text of the option that names a store, the same for every command. */
export const storeOption = "--store <where>";
export const storeDescription = "a folder, or s3://bucket/prefix (PORTOLAN_S3_ENDPOINT names another server)";
export const defaultStore = ".portolan/store";

/** The store that a person names on the command line. */
export function openStore(where: string): ObjectStore {
  const s3 = /^s3:\/\/([^/]+)\/?(.*)$/.exec(where);
  if (s3 === null) return fileStore(where);
  const [, bucket = "", path = ""] = s3;
  const endpoint = process.env.PORTOLAN_S3_ENDPOINT;
  const client = new S3Client(endpoint === undefined ? {} : { endpoint, forcePathStyle: true });
  return s3Store({ client, bucket, prefix: path === "" || path.endsWith("/") ? path : `${path}/` });
}
