import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandInput,
  type ListObjectsV2CommandOutput,
  PutObjectCommand,
  type S3Client,
  S3ServiceException,
} from "@aws-sdk/client-s3";
import { PortolanError } from "../base/diagnostic.ts";
import { namingStore, sameBytes, timeoutsMs } from "./cloud-store.ts";
import { createDateClock } from "./date-clock.ts";
import { foldersOf } from "./files/folders-of.ts";
import { checkKey, type GetResult, type ObjectStore, type PutCondition, type PutResult } from "./object-store.ts";
import { dropIdleSockets } from "./s3-connections.ts";
import { type RepeatableRequest, untilAnswered } from "./until-answered.ts";

export interface S3Options {
  /** Ready to use: region, credentials, endpoint and path style are its business; so are retries after 5xx and throttling. */
  readonly client: S3Client;
  readonly bucket: string;
  /** Put before every key; ends with a slash, or is empty. */
  readonly prefix?: string;
}

/**
 * A store in a bucket of S3, or of anything that speaks its protocol with conditional writes. A request that is not answered is
 * given up after some seconds and made anew on another connection.
 */
export function s3Store({ client, bucket, prefix = "" }: S3Options): ObjectStore {
  const at = (key: string) => ({ Bucket: bucket, Key: prefix + checkKey(key) });
  const clock = createDateClock();
  watchDates(client, clock.seen);
  const onSilence = () => dropIdleSockets(client);
  const answered = <T>(timeoutMs: number, send: RepeatableRequest<T>["send"]) =>
    untilAnswered({ timeoutMs, send, onSilence });

  async function get(key: string, condition: { readonly ifNoneMatch?: string } = {}): Promise<GetResult> {
    const ifNoneMatch = condition.ifNoneMatch === undefined ? {} : { IfNoneMatch: condition.ifNoneMatch };
    const send = async (abortSignal: AbortSignal): Promise<GetResult> => {
      const command = new GetObjectCommand({ ...at(key), ...ifNoneMatch });
      const { Body, ETag = "", LastModified } = await client.send(command, { abortSignal });
      const bytes = new Uint8Array((await Body?.transformToByteArray()) ?? []);
      const modified = LastModified === undefined ? {} : { modifiedMs: LastModified.getTime() };
      return { kind: "found", bytes, etag: ETag, ...modified };
    };
    try {
      return await answered(timeoutsMs.get, send);
    } catch (cause) {
      if (statusOf(cause) === 304) return { kind: "unchanged" };
      if (statusOf(cause) === 404 && !isNoBucket(cause)) return { kind: "absent" };
      throw cause;
    }
  }

  async function putOnce(key: string, bytes: Uint8Array, condition: PutCondition): Promise<PutResult | "conflict"> {
    let mayHaveWritten = false;
    const send = async (abortSignal: AbortSignal, isRepeat: boolean) => {
      mayHaveWritten = isRepeat;
      const { ETag = "" } = await client.send(
        new PutObjectCommand({
          ...at(key),
          Body: bytes,
          ...(condition.ifMatch === undefined ? {} : { IfMatch: condition.ifMatch }),
          ...(condition.ifNoneMatch === undefined ? {} : { IfNoneMatch: condition.ifNoneMatch }),
        }),
        { abortSignal },
      );
      return { kind: "stored", etag: ETag } as const;
    };
    try {
      return await answered(timeoutsMs.put(bytes), send);
    } catch (cause) {
      const status = statusOf(cause);
      if (status === 409) return "conflict";
      // AWS answers 404 where the object to be replaced does not exist, others 412.
      const lost = status === 412 || (status === 404 && condition.ifMatch !== undefined && !isNoBucket(cause));
      if (!lost) throw cause;
      if (attemptsOf(cause) === 1 && !mayHaveWritten) return { kind: "lost" };
      // The answer to an earlier attempt may have been lost on the way, and this one has found our own bytes.
      const found = await get(key);
      return found.kind === "found" && sameBytes(found.bytes, bytes)
        ? { kind: "stored", etag: found.etag }
        : { kind: "lost" };
    }
  }

  /** What came of a write that met others again and again, as far as the object tells. */
  async function afterConflicts(key: string, { ifMatch, ifNoneMatch }: PutCondition): Promise<PutResult> {
    const found = await get(key);
    const isThere = found.kind === "found";
    if (ifNoneMatch === "*" && isThere) return { kind: "lost" };
    if (ifMatch !== undefined && !(isThere && found.etag === ifMatch)) return { kind: "lost" };
    throw new PortolanError(`${key}: others write it all the time, and this write did not come through`);
  }

  async function* pages(
    listing: Omit<ListObjectsV2CommandInput, "Bucket" | "ContinuationToken">,
  ): AsyncGenerator<ListObjectsV2CommandOutput> {
    let token: string | undefined;
    do {
      const from = token === undefined ? {} : { ContinuationToken: token };
      const send = (abortSignal: AbortSignal) =>
        client.send(new ListObjectsV2Command({ Bucket: bucket, ...listing, ...from }), { abortSignal });
      const page = await answered(timeoutsMs.list, send);
      yield page;
      token = page.NextContinuationToken;
    } while (token !== undefined);
  }

  return namingStore(`S3 bucket ${bucket}`, {
    get,
    async put(key, bytes, condition = {}) {
      for (let attempt = 1; attempt <= maxConflicts; attempt += 1) {
        const result = await putOnce(key, bytes, condition);
        if (result !== "conflict") return result;
        // Another conditional write of the key is under way; its outcome decides ours.
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 50 * attempt));
      }
      return afterConflicts(key, condition);
    },
    async *list(start, after) {
      const from = after === undefined ? {} : { StartAfter: prefix + after };
      for await (const { Contents = [] } of pages({ Prefix: prefix + start, ...from })) {
        for (const { Key, Size = 0, LastModified, ETag } of Contents) {
          if (Key === undefined) continue;
          // Of an object that was put whole and is not encrypted by a key of the bucket's owner.
          const md5 = /^"?([0-9a-f]{32})"?$/.exec(ETag ?? "")?.[1];
          const listed = { key: Key.slice(prefix.length), sizeBytes: Size, modifiedMs: LastModified?.getTime() ?? 0 };
          yield { ...listed, ...(md5 === undefined ? {} : { md5 }) };
        }
      }
    },
    async folders(start) {
      const found: string[] = [];
      for await (const { CommonPrefixes = [] } of pages({ Prefix: prefix + start, Delimiter: "/" }))
        found.push(...CommonPrefixes.flatMap(({ Prefix }) => Prefix ?? []));
      return foldersOf(found, prefix + start);
    },
    async delete(key) {
      const send = (abortSignal: AbortSignal) => client.send(new DeleteObjectCommand(at(key)), { abortSignal });
      await answered(timeoutsMs.get, send);
    },
    time: async () => clock.now(),
  });
}

const maxConflicts = 8;

/** Every answer says what the server's clock shows. */
function watchDates(client: S3Client, seen: (date: string, askedMs: number) => void): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      const askedMs = performance.now();
      const result = await next(args);
      const { response } = result;
      if (typeof response === "object" && response !== null && "headers" in response) {
        const { headers } = response;
        if (typeof headers === "object" && headers !== null && "date" in headers && typeof headers.date === "string") {
          seen(headers.date, askedMs);
        }
      }
      return result;
    },
    // Nearest to the wire, so that it sees answers that are errors too.
    { step: "deserialize", priority: "low" },
  );
}

const statusOf = (cause: unknown): number | undefined =>
  cause instanceof S3ServiceException ? cause.$metadata.httpStatusCode : undefined;

const attemptsOf = (cause: unknown): number =>
  cause instanceof S3ServiceException ? (cause.$metadata.attempts ?? 1) : 1;

const isNoBucket = (cause: unknown): boolean => cause instanceof S3ServiceException && cause.name === "NoSuchBucket";
