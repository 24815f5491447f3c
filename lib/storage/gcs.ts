import { fetchTrouble } from "../base/cause-text.ts";
import { PortolanError } from "../base/diagnostic.ts";
import { fieldsOf, jsonIn, listIn, memberOf, textOf } from "../base/untyped.ts";
import { namingStore, sameBytes, timeoutsMs } from "./cloud-store.ts";
import { createDateClock } from "./date-clock.ts";
import { foldersOf } from "./files/folders-of.ts";
import { checkKey, type GetResult, type ListedObject, type ObjectStore, type PutCondition } from "./object-store.ts";
import { untilAnswered } from "./until-answered.ts";

export interface GcsOptions {
  readonly bucket: string;
  /** Put before every key; ends with a slash, or is empty. */
  readonly prefix?: string;
  /** URL of the service, without a slash at its end. */
  readonly endpoint?: string;
  /** Objects on a page of a list; as many as the service gives, 1,000, when absent. */
  readonly pageSize?: number;
  /** Headers that let a request pass; asked for each request, so that a token can be renewed. */
  readonly authorize: () => Promise<Headers>;
}

interface Question {
  readonly method: "GET" | "POST" | "DELETE";
  /** Path and query, from the endpoint on. */
  readonly target: string;
  readonly timeoutMs: number;
  readonly body?: Uint8Array<ArrayBuffer>;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Whether an attempt before may have been carried out. */
  readonly isRepeat: boolean;
}

/**
 * A store in a bucket of Google Cloud Storage, over its JSON API. An etag is an object's generation, a number that no other write of the
 * object has: Google's own library cannot read an object on condition that its generation is another.
 *
 * @see https://cloud.google.com/storage/docs/json_api/v1/objects
 * @see https://cloud.google.com/storage/docs/request-preconditions
 */
export function gcsStore({
  bucket,
  prefix = "",
  endpoint = "https://storage.googleapis.com",
  pageSize,
  authorize,
}: GcsOptions): ObjectStore {
  const clock = createDateClock();
  const objects = `/storage/v1/b/${encodeURIComponent(bucket)}/o`;
  const at = (key: string) => `${objects}/${encodeURIComponent(prefix + checkKey(key))}`;
  let bucketFound: Promise<void> | undefined;

  async function ask({ method, target, timeoutMs, body }: Question): Promise<Answer> {
    const headers = await authorize();
    const init = { method, headers, ...(body === undefined ? {} : { body }) };
    return untilAnswered({
      timeoutMs,
      // What is thrown below is a connection that broke, or an answer that passes.
      isPassing: () => true,
      async send(signal, isRepeat) {
        const askedMs = performance.now();
        const response = await fetch(endpoint + target, { ...init, signal }).catch((cause: unknown) => {
          throw new PortolanError(`cannot be reached: ${fetchTrouble(cause)}`, [], cause);
        });
        clock.seen(response.headers.get("date") ?? "", askedMs);
        const { status } = response;
        const bytes = new Uint8Array(await response.arrayBuffer());
        const answer = { status, headers: response.headers, bytes, isRepeat };
        if (passing.has(status)) throw refusal(answer);
        return answer;
      },
    });
  }

  /** An object that is absent, and one in a bucket that is absent, have the same answer. */
  async function needBucket(): Promise<void> {
    bucketFound ??= page({ maxResults: "1", fields: "nextPageToken" }).then(() => {});
    await bucketFound.catch((cause: unknown) => {
      bucketFound = undefined;
      throw cause;
    });
  }

  async function get(key: string, { ifNoneMatch }: { readonly ifNoneMatch?: string } = {}): Promise<GetResult> {
    const condition = isGeneration(ifNoneMatch) ? `&ifGenerationNotMatch=${ifNoneMatch}` : "";
    const answer = await ask({ method: "GET", target: `${at(key)}?alt=media${condition}`, timeoutMs: timeoutsMs.get });
    if (answer.status === 304) return { kind: "unchanged" };
    if (answer.status === 404) {
      await needBucket();
      return { kind: "absent" };
    }
    if (answer.status !== 200) throw refusal(answer);
    const etag = answer.headers.get("x-goog-generation") ?? "";
    if (!isGeneration(etag)) throw new PortolanError(`the answer about ${key} names no generation`);
    const modifiedMs = Date.parse(answer.headers.get("last-modified") ?? "");
    return { kind: "found", bytes: answer.bytes, etag, ...(Number.isNaN(modifiedMs) ? {} : { modifiedMs }) };
  }

  async function page(query: Readonly<Record<string, string>>): Promise<unknown> {
    const target = `${objects}?${new URLSearchParams(query)}`;
    const answer = await ask({ method: "GET", target, timeoutMs: timeoutsMs.list });
    if (answer.status !== 200) throw refusal(answer);
    return jsonIn(new TextDecoder().decode(answer.bytes));
  }

  async function* pages(query: Readonly<Record<string, string>>): AsyncGenerator<unknown> {
    const size = pageSize === undefined ? {} : { maxResults: String(pageSize) };
    for (let token = ""; ; ) {
      const found = await page({ ...query, ...size, ...(token === "" ? {} : { pageToken: token }) });
      yield found;
      token = textOf(memberOf(found, "nextPageToken"));
      if (token === "") return;
    }
  }

  return namingStore(`Google Cloud Storage bucket ${bucket}`, {
    get,
    async put(key, bytes, condition = {}) {
      const generation = generationFor(condition);
      if (generation === undefined) return { kind: "lost" };
      const name = encodeURIComponent(prefix + checkKey(key));
      const target = `/upload${objects}?uploadType=media&name=${name}${generation}&fields=generation`;
      const answer = await ask({ method: "POST", target, timeoutMs: timeoutsMs.put(bytes), body: bytes });
      if (answer.status === 200) return { kind: "stored", etag: textOf(memberOf(json(answer), "generation")) };
      if (answer.status !== 412) throw refusal(answer);
      if (!answer.isRepeat) return { kind: "lost" };
      // The answer to an earlier attempt may have been lost on the way, and this one has found our own bytes.
      const found = await get(key);
      const isOurs = found.kind === "found" && sameBytes(found.bytes, bytes);
      return isOurs ? { kind: "stored", etag: found.etag } : { kind: "lost" };
    },
    async *list(start, after) {
      const from = after === undefined ? {} : { startOffset: prefix + after };
      const fields = "items(name,size,updated,md5Hash),nextPageToken";
      for await (const found of pages({ prefix: prefix + start, ...from, fields })) {
        for (const item of listIn(found, "items")) {
          const object = listedObject(item, prefix);
          // The offset itself is listed too.
          if (object.key !== after) yield object;
        }
      }
    },
    async folders(start) {
      const found: string[] = [];
      for await (const one of pages({ prefix: prefix + start, delimiter: "/", fields: "prefixes,nextPageToken" }))
        found.push(...listIn(one, "prefixes").map(textOf));
      return foldersOf(found, prefix + start);
    },
    async delete(key) {
      const answer = await ask({ method: "DELETE", target: at(key), timeoutMs: timeoutsMs.get });
      if (answer.status === 404) await needBucket();
      else if (answer.status >= 300) throw refusal(answer);
    },
    time: async () => clock.now(),
  });
}

/** Too many requests, among them more than one a second for one object; and failures of the service's own. */
const passing: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

const isGeneration = (etag: string | undefined): boolean => etag !== undefined && /^[1-9][0-9]{0,18}$/.test(etag);

/** @returns the part of the query; undefined for a tag that no object has */
function generationFor({ ifMatch, ifNoneMatch }: PutCondition): string | undefined {
  if (ifNoneMatch === "*") return "&ifGenerationMatch=0";
  if (ifMatch === undefined) return "";
  return isGeneration(ifMatch) ? `&ifGenerationMatch=${ifMatch}` : undefined;
}

const json = ({ bytes }: Answer): unknown => jsonIn(new TextDecoder().decode(bytes));

function listedObject(item: unknown, prefix: string): ListedObject {
  const { name, size, updated, md5Hash } = fieldsOf(item);
  const key = textOf(name).slice(prefix.length);
  const listed = { key, sizeBytes: Number(size ?? 0), modifiedMs: Date.parse(textOf(updated)) || 0 };
  // Composed objects have none.
  return typeof md5Hash === "string" ? { ...listed, md5: Buffer.from(md5Hash, "base64").toString("hex") } : listed;
}

/** What an answer says that is no success. */
function refusal(answer: Answer): PortolanError {
  const message = textOf(memberOf(memberOf(json(answer), "error"), "message"));
  const text = message === "" ? new TextDecoder().decode(answer.bytes.subarray(0, 1_000)) : message;
  return new PortolanError(`answers ${answer.status}${text === "" ? "" : `: ${text.trim().slice(0, 1_000)}`}`);
}
