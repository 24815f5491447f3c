import { fetchTrouble } from "../base/cause-text.ts";
import { PortolanError } from "../base/diagnostic.ts";
import { foldersOf } from "./files/folders-of.ts";
import { checkKey, type ListedObject, type ObjectStore } from "./object-store.ts";

/** A request to a store over HTTP, as whoever signs it needs to know it. */
export interface StoreRequest {
  readonly method: "GET" | "PUT" | "DELETE";
  /** Path and query from the store's URL on, as they are sent. */
  readonly target: string;
  /** `if-match` or `if-none-match`, as sent; empty without a condition. */
  readonly condition: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
}

export interface HttpStoreOptions {
  /** Where the objects lie, without a final slash. */
  readonly url: string;
  /** Headers that let a request pass. */
  readonly authorize: (request: StoreRequest) => Promise<Readonly<Record<string, string>>>;
  readonly fetch?: (request: Request) => Response | Promise<Response>;
}

/** Tells an object that is not there from an address where no objects are. */
export const absentHeader = "x-portolan-absent";

const maxParallel = 32;
const timeoutMs = 60_000;
const nothing = new Uint8Array();

/** A store behind HTTP: `GET`, `PUT` and `DELETE` of `<url>/<key>`, and `GET <url>/?prefix=…` for one JSON object a line. */
export function httpStore({ url, authorize, fetch: send = fetch }: HttpStoreOptions): ObjectStore {
  const limited = limit(maxParallel);

  async function ask(request: StoreRequest): Promise<Response> {
    const { method, target, condition, body } = request;
    const headers = { ...condition, ...(await authorize(request)) };
    const signal = AbortSignal.timeout(timeoutMs);
    const init = { method, headers, signal, ...(method === "PUT" ? { body } : {}) };
    try {
      const response = await send(new Request(url + target, init));
      // Read to its end, so that no more than the limit are open.
      return new Response(isBodiless(response.status) ? null : await response.arrayBuffer(), response);
    } catch (cause) {
      throw new PortolanError(`${url} cannot be reached: ${fetchTrouble(cause)}`, [], cause);
    }
  }

  const at = (key: string) => `/${checkKey(key).replaceAll("%", "%25")}`;
  const request = (method: StoreRequest["method"], target: string, condition = {}, body = nothing) =>
    limited(() => ask({ method, target, condition, body }));

  async function listed(prefix: string): Promise<readonly ListedObject[]> {
    const response = await request("GET", `/?prefix=${encodeURIComponent(prefix)}`);
    if (!response.ok) throw await refusal(url, response);
    const lines = (await response.text()).split("\n");
    return lines.flatMap((line) => (line === "" ? [] : [readLine(url, line)]));
  }

  return {
    async get(key, { ifNoneMatch } = {}) {
      const condition = ifNoneMatch === undefined ? {} : { "if-none-match": ifNoneMatch };
      const response = await request("GET", at(key), condition);
      if (response.status === 304) return { kind: "unchanged" };
      if (response.status === 404 && response.headers.has(absentHeader)) return { kind: "absent" };
      if (!response.ok) throw await refusal(url, response);
      return { kind: "found", bytes: new Uint8Array(await response.arrayBuffer()), etag: etagOf(response) };
    },
    async put(key, bytes, { ifMatch, ifNoneMatch } = {}) {
      const condition = {
        ...(ifMatch === undefined ? {} : { "if-match": ifMatch }),
        ...(ifNoneMatch === undefined ? {} : { "if-none-match": ifNoneMatch }),
      };
      const response = await request("PUT", at(key), condition, bytes);
      if (response.status === 412) return { kind: "lost" };
      if (!response.ok) throw await refusal(url, response);
      return { kind: "stored", etag: etagOf(response) };
    },
    async *list(prefix, after = "") {
      for (const object of await listed(prefix)) if (object.key > after) yield object;
    },
    async folders(prefix) {
      const objects = await listed(prefix);
      return foldersOf(
        objects.map(({ key }) => key),
        prefix,
      );
    },
    async delete(key) {
      const response = await request("DELETE", at(key));
      if (!response.ok) throw await refusal(url, response);
    },
  };
}

const isBodiless = (status: number) => status === 204 || status === 304;
const etagOf = (response: Response) => response.headers.get("etag") ?? "";

async function refusal(url: string, response: Response): Promise<PortolanError> {
  const text = await response.text();
  return new PortolanError(`${url} answers ${response.status}: ${detailOf(text) ?? text.slice(0, 1_000)}`);
}

/** What a problem document (RFC 9457) says. */
function detailOf(text: string): string | undefined {
  const json = parse(text);
  if (typeof json !== "object" || json === null || !("detail" in json)) return undefined;
  return typeof json.detail === "string" ? json.detail : undefined;
}

function readLine(url: string, line: string): ListedObject {
  const json = parse(line);
  if (!isListed(json)) throw new PortolanError(`${url} lists something else than objects`);
  return json;
}

function isListed(json: unknown): json is ListedObject {
  return (
    typeof json === "object" &&
    json !== null &&
    "key" in json &&
    typeof json.key === "string" &&
    "sizeBytes" in json &&
    typeof json.sizeBytes === "number" &&
    "modifiedMs" in json &&
    typeof json.modifiedMs === "number"
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Lets so many run at once, and the others wait in order: a big ledger would open more connections than a process may. */
function limit(max: number): <T>(run: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (run) => {
    if (running === max) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await run();
    } finally {
      const next = waiting.shift();
      // Whoever comes next takes over the place of who has ended.
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
