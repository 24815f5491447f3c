import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
  S3ServiceException,
} from "@aws-sdk/client-s3";
import { PortolanError } from "../config/diagnostic.ts";
import { checkKey, type GetResult, type ObjectStore, type PutCondition, type PutResult } from "./object-store.ts";

export interface S3Options {
  /** Ready to use: region, credentials, endpoint and path style are its business; so are retries after 5xx and throttling. */
  readonly client: S3Client;
  readonly bucket: string;
  /** Put before every key; ends with a slash, or is empty. */
  readonly prefix?: string;
}

/** A store in a bucket of S3, or of anything that speaks its protocol with conditional writes. */
export function s3Store({ client, bucket, prefix = "" }: S3Options): ObjectStore {
  const at = (key: string) => ({ Bucket: bucket, Key: prefix + checkKey(key) });

  async function get(key: string, condition: { readonly ifNoneMatch?: string } = {}): Promise<GetResult> {
    const ifNoneMatch = condition.ifNoneMatch === undefined ? {} : { IfNoneMatch: condition.ifNoneMatch };
    try {
      const found = await client.send(new GetObjectCommand({ ...at(key), ...ifNoneMatch }));
      const bytes = new Uint8Array((await found.Body?.transformToByteArray()) ?? []);
      return { kind: "found", bytes, etag: found.ETag ?? "" };
    } catch (cause) {
      if (statusOf(cause) === 304) return { kind: "unchanged" };
      if (statusOf(cause) === 404 && !isNoBucket(cause)) return { kind: "absent" };
      throw cause;
    }
  }

  async function putOnce(key: string, bytes: Uint8Array, condition: PutCondition): Promise<PutResult | "conflict"> {
    try {
      const { ETag = "" } = await client.send(
        new PutObjectCommand({
          ...at(key),
          Body: bytes,
          ...(condition.ifMatch === undefined ? {} : { IfMatch: condition.ifMatch }),
          ...(condition.ifNoneMatch === undefined ? {} : { IfNoneMatch: condition.ifNoneMatch }),
        }),
      );
      return { kind: "stored", etag: ETag };
    } catch (cause) {
      const status = statusOf(cause);
      if (status === 409) return "conflict";
      // AWS answers 404 where the object to be replaced does not exist, others 412.
      const lost = status === 412 || (status === 404 && condition.ifMatch !== undefined && !isNoBucket(cause));
      if (!lost) throw cause;
      if (attemptsOf(cause) === 1) return { kind: "lost" };
      // The answer to an earlier attempt may have been lost on the way, and this one has found our own bytes.
      const found = await get(key);
      return found.kind === "found" && sameBytes(found.bytes, bytes)
        ? { kind: "stored", etag: found.etag }
        : { kind: "lost" };
    }
  }

  return wrapErrors(bucket, {
    get,
    async put(key, bytes, condition = {}) {
      for (let attempt = 1; ; attempt += 1) {
        const result = await putOnce(key, bytes, condition);
        if (result !== "conflict") return result;
        // Another conditional write of the key is under way; its outcome decides ours.
        if (attempt === maxConflicts) return { kind: "lost" };
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 50 * attempt));
      }
    },
    async *list(start, after) {
      let token: string | undefined;
      do {
        const page = await client.send(
          new ListObjectsV2Command({
            Bucket: bucket,
            Prefix: prefix + start,
            ...(token === undefined ? {} : { ContinuationToken: token }),
            ...(after === undefined ? {} : { StartAfter: prefix + after }),
          }),
        );
        for (const { Key, Size = 0, LastModified } of page.Contents ?? []) {
          if (Key === undefined) continue;
          yield { key: Key.slice(prefix.length), sizeBytes: Size, modifiedMs: LastModified?.getTime() ?? 0 };
        }
        token = page.NextContinuationToken;
      } while (token !== undefined);
    },
    async delete(key) {
      await client.send(new DeleteObjectCommand(at(key)));
    },
  });
}

const maxConflicts = 8;

const statusOf = (cause: unknown): number | undefined =>
  cause instanceof S3ServiceException ? cause.$metadata.httpStatusCode : undefined;

const attemptsOf = (cause: unknown): number =>
  cause instanceof S3ServiceException ? (cause.$metadata.attempts ?? 1) : 1;

const isNoBucket = (cause: unknown): boolean => cause instanceof S3ServiceException && cause.name === "NoSuchBucket";

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

function wrapErrors(bucket: string, store: ObjectStore): ObjectStore {
  const fail = (cause: unknown): never => {
    if (cause instanceof PortolanError) throw cause;
    throw new PortolanError(`S3 bucket ${bucket}: ${String(cause)}`, [], cause);
  };
  return {
    get: (key, condition) => store.get(key, condition).catch(fail),
    put: (key, bytes, condition) => store.put(key, bytes, condition).catch(fail),
    delete: (key) => store.delete(key).catch(fail),
    async *list(prefix, after) {
      try {
        yield* store.list(prefix, after);
      } catch (cause) {
        fail(cause);
      }
    },
  };
}
