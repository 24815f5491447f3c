import { PortolanError } from "../config/diagnostic.ts";

/** A folder in a bucket, and who has it. */
export interface Bucket {
  readonly bucket: string;
  /** The folder that the objects lie in, with or without a slash at its end; empty for the whole bucket. */
  readonly prefix: string;
  /** Where it is, when that is not where the environment says. */
  readonly region?: string | undefined;
  /** A server other than AWS's, which is then asked in path style. */
  readonly endpoint?: string | undefined;
}

/**
 * Reads `s3://bucket/prefix`, with `?region=` and `endpoint=` for one that lies elsewhere than the environment says: a copy is in another
 * region, or at another server, than its original.
 *
 * @returns undefined for what names no bucket
 * @throws PortolanError for anything else after the question mark
 */
export function readBucketPlace(text: string): Bucket | undefined {
  const [match, bucket = "", prefix = "", query = ""] = /^s3:\/\/([^/?]+)\/?([^?]*)(?:\?(.*))?$/s.exec(text) ?? [];
  if (match === undefined) return undefined;
  const { region, endpoint, ...others } = Object.fromEntries(new URLSearchParams(query));
  const [odd] = Object.keys(others);
  if (odd !== undefined)
    throw new PortolanError(
      `${text}: a bucket has no ${odd}; it may say region and endpoint, like ?region=eu-central-1`,
    );
  return { bucket, prefix, region, endpoint };
}
