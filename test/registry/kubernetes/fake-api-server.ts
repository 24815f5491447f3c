import type { ApiClient } from "../../../lib/registry/kubernetes/api/client.ts";
import type { ApiResource } from "../../../lib/registry/kubernetes/api/resource.ts";
import { type KubernetesObject, objectKey } from "../../../lib/registry/kubernetes/object.ts";
import type { Pace } from "../../../lib/registry/origin/retry.ts";

/** What the server has, by path. */
const resources: readonly ApiResource[] = [
  { path: "/api/v1/configmaps", apiVersion: "v1", kind: "ConfigMap" },
  { path: "/api/v1/namespaces", apiVersion: "v1", kind: "Namespace" },
  { path: "/api/v1/nodes", apiVersion: "v1", kind: "Node" },
  { path: "/api/v1/pods", apiVersion: "v1", kind: "Pod" },
  { path: "/api/v1/secrets", apiVersion: "v1", kind: "Secret" },
  { path: "/api/v1/services", apiVersion: "v1", kind: "Service" },
  { path: "/apis/discovery.k8s.io/v1/endpointslices", apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice" },
  {
    path: "/apis/networking.istio.io/v1/virtualservices",
    apiVersion: "networking.istio.io/v1",
    kind: "VirtualService",
  },
];

interface LogEntry {
  readonly version: number;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: KubernetesObject;
}

/** Waits for nothing but its turn. */
export const hurry: Pace = {
  pause: () => new Promise((resolve) => setImmediate(resolve)),
  backOff: () => 0,
};

export function jsonResponse(body: unknown, status = 200): Response {
  return new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });
}

/**
 * An API server in memory: lists in pages, watches with history, positions that grow too old, connections that break,
 * chunks that cut lines and characters anywhere.
 */
export class FakeApiServer {
  readonly #objects = new Map<string, Map<string, KubernetesObject>>();
  readonly #logs = new Map<string, LogEntry[]>();
  readonly #watches = new Map<ReadableStreamDefaultController<Uint8Array>, string>();
  /** Kinds that the server does not have. */
  readonly absent = new Set<string>();
  /** Kinds whose CRDs are being deleted: they take no new objects. */
  readonly leaving = new Set<string>();
  /** Answers instead of its own, each once. */
  readonly answers: ((url: URL) => Response | undefined)[] = [];
  /** Whether lists are streamed, as servers with a new etcd do. */
  streams = true;
  /** Paths asked for. */
  readonly requests: URL[] = [];
  #version = 1;
  #compacted = 0;

  client(): ApiClient {
    return {
      baseUrl: "http://api.test",
      fetch: async (url, init) => {
        init.signal?.throwIfAborted();
        return this.#answer(new URL(url), init.signal ?? undefined);
      },
      token: async () => "token",
    };
  }

  put(object: KubernetesObject): void {
    const { origin: _origin, ...rest } = object;
    const objects = this.#kind(object.kind);
    const key = objectKey(object);
    const type = objects.has(key) ? "MODIFIED" : "ADDED";
    this.#version += 1;
    const metadata = { ...object.metadata, resourceVersion: String(this.#version) };
    const stored: KubernetesObject = { ...rest, metadata, origin: object.origin };
    objects.set(key, stored);
    this.#log(type, stored);
  }

  delete(kind: string, key: string): void {
    const object = this.#kind(kind).get(key);
    if (object === undefined) return;
    this.#kind(kind).delete(key);
    this.#version += 1;
    const metadata = { ...object.metadata, resourceVersion: String(this.#version) };
    this.#log("DELETED", { ...object, metadata });
  }

  keys(kind: string): readonly string[] {
    return [...this.#kind(kind).keys()];
  }

  /** What it holds, to be restored later. */
  backup(): { readonly version: number; readonly objects: ReadonlyMap<string, ReadonlyMap<string, KubernetesObject>> } {
    return {
      version: this.#version,
      objects: new Map([...this.#objects].map(([kind, held]) => [kind, new Map(held)] as const)),
    };
  }

  /** Goes back to what it held then, and to the version that it had. */
  restore({ version, objects }: ReturnType<FakeApiServer["backup"]>): void {
    this.#version = version;
    this.#logs.clear();
    this.#objects.clear();
    for (const [kind, held] of objects) this.#objects.set(kind, new Map(held));
  }

  /** Forgets all history: older positions are gone. */
  compact(): void {
    this.#version += 1;
    this.#compacted = this.#version;
    this.#logs.clear();
  }

  bookmark(): void {
    for (const [controller, kind] of this.#watches) {
      const metadata = { resourceVersion: String(this.#version) };
      this.#send(controller, { type: "BOOKMARK", object: { kind, apiVersion: "v1", metadata, spec: {} } });
    }
  }

  /** Ends all watches; `error` breaks them. */
  disconnect(how: "end" | "error"): void {
    for (const controller of this.#watches.keys()) {
      if (how === "end") controller.close();
      else controller.error(new TypeError("terminated"));
    }
    this.#watches.clear();
  }

  #kind(kind: string): Map<string, KubernetesObject> {
    const known = this.#objects.get(kind) ?? new Map<string, KubernetesObject>();
    this.#objects.set(kind, known);
    return known;
  }

  #log(type: LogEntry["type"], object: KubernetesObject): void {
    const log = this.#logs.get(object.kind) ?? [];
    this.#logs.set(object.kind, log);
    log.push({ version: this.#version, type, object });
    for (const [controller, kind] of this.#watches) if (kind === object.kind) this.#send(controller, { type, object });
  }

  /** One line, cut into pieces in the middle of a character if there is one. */
  #send(controller: ReadableStreamDefaultController<Uint8Array>, event: object): void {
    const bytes = new TextEncoder().encode(`${JSON.stringify(event)}\n`);
    const cut = 1 + bytes.findIndex((byte) => byte > 127) || bytes.length >> 1;
    controller.enqueue(bytes.slice(0, cut));
    controller.enqueue(bytes.slice(cut));
  }

  #answer(url: URL, signal: AbortSignal | undefined): Response {
    this.requests.push(url);
    const prepared = this.answers.shift()?.(url);
    if (prepared !== undefined) return prepared;
    const path = url.pathname.replace(/\/namespaces\/[^/]+(?=\/)/, "");
    const below = resources.filter((one) => one.path.replace(/\/[^/]+$/, "") === path && !this.absent.has(one.kind));
    if (below.length > 0) {
      const verbs = (kind: string) => ["delete", "get", "list", "watch", ...(this.leaving.has(kind) ? [] : ["create"])];
      const names = below.map((one) => ({ name: one.path.replace(/.*\//, ""), verbs: verbs(one.kind) }));
      return jsonResponse({ kind: "APIResourceList", resources: names });
    }
    const resource = resources.find((one) => one.path === path);
    if (resource === undefined || this.absent.has(resource.kind)) {
      return new Response("404 page not found\n", { status: 404 });
    }
    return url.searchParams.has("watch") ? this.#watch(resource, url, signal) : this.#list(resource, url);
  }

  #list(resource: ApiResource, url: URL): Response {
    if (Number(url.searchParams.get("resourceVersion") ?? 0) > this.#version) {
      const message = `Timeout: Too large resource version, current: ${this.#version}`;
      return jsonResponse({ kind: "Status", code: 504, reason: "Timeout", message }, 504);
    }
    const from = Number(url.searchParams.get("continue") ?? 0);
    const limit = Number(url.searchParams.get("limit"));
    const all = [...this.#kind(resource.kind).values()];
    const metadata = {
      resourceVersion: String(this.#version),
      ...(from + limit < all.length ? { continue: String(from + limit) } : {}),
    };
    // Items of a list say neither kind nor version of their API.
    const items = all.slice(from, from + limit).map(({ kind: _kind, apiVersion: _version, ...rest }) => rest);
    return jsonResponse({ kind: `${resource.kind}List`, apiVersion: resource.apiVersion, metadata, items });
  }

  #watch({ kind }: ApiResource, url: URL, signal: AbortSignal | undefined): Response {
    const isInitial = url.searchParams.has("sendInitialEvents");
    const from = isInitial ? this.#version : Number(url.searchParams.get("resourceVersion"));
    if (isInitial && !this.streams) {
      const message = "storage feature RequestWatchProgress is disabled";
      return new Response(`${JSON.stringify({ type: "ERROR", object: { kind: "Status", code: 500, message } })}\n`);
    }
    const read: { controller?: ReadableStreamDefaultController<Uint8Array> } = {};
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        if (from < this.#compacted) {
          this.#send(controller, { type: "ERROR", object: { code: 410, reason: "Expired", message: "too old" } });
          controller.close();
          return;
        }
        if (isInitial) {
          for (const object of this.#kind(kind).values()) this.#send(controller, { type: "ADDED", object });
          const annotations = { "k8s.io/initial-events-end": "true" };
          const metadata = { resourceVersion: String(this.#version), annotations };
          this.#send(controller, { type: "BOOKMARK", object: { kind, apiVersion: "v1", metadata } });
        }
        for (const { version, type, object } of this.#logs.get(kind) ?? []) {
          if (version > from) this.#send(controller, { type, object });
        }
        this.#watches.set(controller, kind);
        signal?.addEventListener("abort", () => {
          if (this.#watches.delete(controller)) controller.error(signal.reason);
        });
        read.controller = controller;
      },
      cancel: () => {
        if (read.controller !== undefined) this.#watches.delete(read.controller);
      },
    });
    return new Response(stream);
  }
}
