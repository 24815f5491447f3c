import { Hono } from "hono/tiny";
import { PortolanError } from "../../base/diagnostic.ts";
import type { SourceFile } from "../../config/folder/directory.ts";
import { secretsInFiles } from "../../config/secrets/secrets-in-files.ts";
import { limits } from "../../limits/limits.ts";
import { absentHeader } from "../../storage/http.ts";
import { checkKey, encodeKeyPart, type ObjectStore, type PutCondition } from "../../storage/object-store.ts";
import { isSourcePart, sourceParts } from "../shards/source-parts.ts";
import { problem } from "./delivery.ts";
import type { Guard } from "./guard.ts";
import { objectsPath } from "./object-signature.ts";
import type { Quota } from "./quota.ts";
import { checkWrite, isRead, type SourceObject } from "./source-objects.ts";
import { sourcesSetting } from "./sources-setting.ts";
import { allSecrets, secretsOf, type WebhookSecrets } from "./webhook-secrets.ts";

export interface ObjectsOptions {
  readonly store: ObjectStore;
  readonly secrets: WebhookSecrets;
  /** Sources whose objects are reachable, and nothing else is. */
  readonly sources: readonly string[];
  readonly guard: Guard;
  readonly quota: Quota;
  /** Whether an object may be written, by its key from the folder of its source on; absent: whether it is a part of a source. */
  readonly isPart?: (part: string) => boolean;
}

/** The objects under `sources/<name>/` over HTTP, as `httpStore` asks for them. Every request is signed, writes are good for once. */
export function objectsApp({ store, secrets, sources, guard, quota, isPart = isSourcePart }: ObjectsOptions): Hono {
  const open = sources.map((name) => ({ name, prefix: `sources/${encodeKeyPart(name)}/` }));
  const app = new Hono();

  app.on(["GET", "PUT", "DELETE"], "/*", (c) => {
    const { method } = c.req;
    const { pathname, search, searchParams } = new URL(c.req.url);
    const path = pathname.slice(objectsPath.length);
    const prefix = path === "/" || path === "" ? (searchParams.get("prefix") ?? "") : undefined;
    const key = prefix ?? keyOf(path);
    const source = open.find((one) => key?.startsWith(one.prefix) === true);
    const known = source === undefined ? allSecrets(secrets) : secretsOf(secrets, source.name);
    const guarded = { secrets: known, target: pathname + search, maxBytes: limits.objectBytes, once: method !== "GET" };
    return guard(c, guarded, async (body) => {
      // Lists are asked for by folders, objects never.
      if (key === undefined || !isKey(prefix === undefined ? key : key.replace(/\/$/, "")))
        return problem(400, `not a storage key: ${path.slice(0, 200)}`);
      if (source === undefined)
        return problem(403, `${key} is in none of the sources taken here: add its source to ${sourcesSetting}`);
      if (prefix !== undefined) return method === "GET" ? list(store, prefix) : problem(405, "a list is only read");
      const object: SourceObject = { source: source.name, key, part: key.slice(source.prefix.length) };
      const ifMatch = c.req.header("if-match");
      const ifNoneMatch = c.req.header("if-none-match");
      switch (method) {
        case "GET":
          return get(store, key, ifNoneMatch);
        case "PUT":
          if (!isPart(object.part))
            return problem(422, `${key.slice(0, 200)} is no part of a source, and was not written: put ${sourceParts}`);
          // Files and objects of a source are texts, whatever they are called.
          refuseSecrets(source.name, { file: key, text: new TextDecoder().decode(body) });
          await checkWrite(store, object, body);
          return put({ store, key, quota: () => quota(source.name, body.length) }, body, ifMatch, ifNoneMatch);
        case "DELETE":
          if (isRead(object))
            return problem(403, `${key} is deleted by \`portolan gc\`, when nothing names it any more`);
          await store.delete(key);
          return new Response(null, { status: 204 });
        default:
          return problem(405, `${method} is not taken here`);
      }
    });
  });
  return app;
}

/**
 * Whoever writes a source leaves its secrets out, and a text that comes with one is a mistake of theirs. What a folder's own settings
 * allow is not known of one text: the reader looks at that.
 *
 * @throws PortolanError with a diagnostic for each
 */
function refuseSecrets(name: string, file: SourceFile): void {
  const secrets = secretsInFiles([file], { inlineSymmetricKeys: "allow" });
  if (secrets.length > 0)
    throw new PortolanError(`source ${name} was left as it was: there are secrets in what it would hold`, secrets);
}

async function get(store: ObjectStore, key: string, ifNoneMatch: string | undefined): Promise<Response> {
  const result = await store.get(key, ifNoneMatch === undefined ? {} : { ifNoneMatch: fromHeader(ifNoneMatch) });
  switch (result.kind) {
    case "unchanged":
      return new Response(null, { status: 304 });
    case "absent":
      return problem(404, `there is no object ${key}`, { [absentHeader]: "true" });
    case "found":
      return new Response(result.bytes, {
        headers: {
          etag: toHeader(result.etag),
          "content-type": "application/octet-stream",
          // A cache on the way that compresses or keeps would break the tags.
          "cache-control": "no-store, no-transform",
        },
      });
  }
}

interface Putting {
  readonly store: ObjectStore;
  readonly key: string;
  readonly quota: () => Promise<string | undefined>;
}

async function put(
  { store, key, quota }: Putting,
  bytes: Uint8Array<ArrayBuffer>,
  ifMatch: string | undefined,
  ifNoneMatch: string | undefined,
): Promise<Response> {
  if (ifNoneMatch !== undefined && ifNoneMatch !== "*") return problem(400, "a write takes if-none-match: * only");
  const full = await quota();
  if (full !== undefined) return problem(413, full);
  const condition: PutCondition = {
    ...(ifMatch === undefined ? {} : { ifMatch: fromHeader(ifMatch) }),
    ...(ifNoneMatch === undefined ? {} : { ifNoneMatch }),
  };
  const result = await store.put(key, bytes, condition);
  if (result.kind === "lost") return problem(412, "another writer was first");
  return new Response(null, { status: 204, headers: { etag: toHeader(result.etag) } });
}

/** One JSON object a line, sent as the store finds them. */
function list(store: ObjectStore, prefix: string): Response {
  const objects = store.list(prefix)[Symbol.asyncIterator]();
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await objects.next();
      if (next.done === true) controller.close();
      else controller.enqueue(new TextEncoder().encode(`${JSON.stringify(next.value)}\n`));
    },
    async cancel() {
      await objects.return?.();
    },
  });
  return new Response(stream, { headers: { "content-type": "application/x-ndjson", "cache-control": "no-store" } });
}

function keyOf(path: string): string | undefined {
  try {
    return decodeURIComponent(path.slice(1));
  } catch {
    return undefined;
  }
}

function isKey(key: string): boolean {
  try {
    return checkKey(key) === key;
  } catch {
    return false;
  }
}

/** Stores' tags have any form, HTTP's are in quotes, and a server on the way may have weakened them. */
const toHeader = (etag: string) => `"${encodeURIComponent(etag)}"`;

function fromHeader(header: string): string {
  const tag = /^(?:W\/)?"(.*)"$/.exec(header)?.[1] ?? header;
  try {
    return decodeURIComponent(tag);
  } catch {
    return tag;
  }
}
