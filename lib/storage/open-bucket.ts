import { S3Client } from "@aws-sdk/client-s3";
import { PortolanError } from "../base/diagnostic.ts";
import type { ObjectStore } from "./object-store.ts";
import { s3Store } from "./s3.ts";
import type { S3Location } from "./store-location.ts";

/** Where a bucket is, and the part of it that is a store. */
type Bucket = Omit<S3Location, "kind">;

/** A store in a bucket; credentials, and a region that is not said, come as the SDK finds them. */
export function openBucket(bucket: Bucket): ObjectStore {
  return storeIn(new S3Client(optionsFor(bucket)), bucket);
}

/**
 * The same, for a person: what the SDK would miss at the first request is said now. A server other than AWS's does not look at the region.
 *
 * @throws PortolanError without a region, or without credentials, with what to set
 */
export async function openBucketChecked(bucket: Bucket): Promise<ObjectStore> {
  const found = new S3Client(optionsFor(bucket));
  const region = await found.config.region().catch((cause: unknown) => {
    if (isSaid(bucket.endpoint)) return "us-east-1";
    throw missing(bucket, "region", "AWS_REGION, or a profile that has one with AWS_PROFILE", cause);
  });
  const client = new S3Client({ ...optionsFor(bucket), region });
  await client.config.credentials().catch((cause: unknown) => {
    throw missing(
      bucket,
      "credentials",
      "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile with AWS_PROFILE",
      cause,
    );
  });
  return storeIn(client, bucket);
}

const optionsFor = ({ endpoint, region }: Bucket) => ({
  ...(isSaid(region) ? { region } : {}),
  ...(isSaid(endpoint) ? { endpoint, forcePathStyle: true } : {}),
});

/** An empty setting is none. */
const isSaid = (setting: string | undefined): setting is string => setting !== undefined && setting !== "";

const storeIn = (client: S3Client, { bucket, prefix }: Bucket): ObjectStore => s3Store({ client, bucket, prefix });

const missing = ({ bucket }: Bucket, what: string, remedy: string, cause: unknown): PortolanError =>
  new PortolanError(`no ${what} for the bucket ${bucket}: set ${remedy}`, [], cause);
