import { frontApp } from "../../lib/front/app.ts";
import { createFront, type Front, type FrontOptions } from "../../lib/front/front.ts";
import type { CompiledWorld } from "../../lib/snapshot/compiled.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { type ResourceType, typeUrlOf } from "../../lib/snapshot/resource-type.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";

export interface TestFront {
  readonly front: Front;
  readonly store: ObjectStore;
  request(path: string, init?: RequestInit): Promise<Response>;
  poll(type: ResourceType, body: string | object, headers?: Readonly<Record<string, string>>): Promise<Response>;
  publish(world: CompiledWorld): Promise<void>;
}

/** A front over a memory store, without sockets; nothing is published yet. */
export function testFront(options: Partial<FrontOptions> = {}): TestFront {
  const store = options.store ?? memoryStore();
  const front = createFront({ headTtlMs: 0, ...options, store });
  const app = frontApp(front);
  const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 } });
  const request = async (path: string, init?: RequestInit) => app.request(path, init);
  return {
    front,
    store,
    request,
    poll: (type, body, headers = {}) =>
      request(`/v3/discovery:${type}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    async publish(world) {
      await publisher.publish(world, await publisher.head());
    },
  };
}

export const nodeOf = (name: string, labels: Readonly<Record<string, string>> = {}) => ({
  id: `sidecar~10.0.0.5~${name}.default~default.svc.cluster.local`,
  cluster: `${name}.default`,
  metadata: { NAMESPACE: "default", LABELS: labels },
});

/** A DiscoveryRequest as Envoy writes it. */
export function pollBody(
  type: ResourceType,
  node: object,
  { version, names }: { readonly version?: string; readonly names?: readonly string[] } = {},
): string {
  return JSON.stringify({
    ...(version === undefined ? {} : { version_info: version }),
    node,
    ...(names === undefined ? {} : { resource_names: names }),
    type_url: typeUrlOf(type),
  });
}
