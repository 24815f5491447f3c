import { createBell, defaultPace, type Pace } from "../../retry.ts";
import type { Source, SourceEvent } from "../../source.ts";
import { slicePodReferences } from "../endpoint-slice.ts";
import { type KubernetesObject, objectKey } from "../object.ts";
import type { ApiClient } from "./client.ts";
import { type ListedItems, type ListOptions, listItems } from "./list.ts";
import { createReflector, type Reflector } from "./reflector.ts";
import { type ApiResource, registryResources } from "./resource.ts";

export interface KubernetesSourceOptions {
  /** Name of the source, for origins. */
  readonly name: string;
  /** What is read; all that a registry reads when absent. */
  readonly resources?: readonly ApiResource[];
  readonly pace?: Pace;
  readonly pageSize?: number;
}

function versionText(versions: readonly string[]): string {
  return versions.join(".");
}

/** Does a slice name a pod that is not among those listed? Such a pod was made between the two lists. */
function namesUnknownPod(lists: ReadonlyMap<string, ListedItems>): boolean {
  const pods = new Set((lists.get("Pod")?.items ?? []).map(objectKey));
  return (lists.get("EndpointSlice")?.items ?? []).some((slice) =>
    slicePodReferences(slice).some((reference) => reference.includes("/") && !pods.has(reference)),
  );
}

/**
 * The objects of a Kubernetes cluster, over nothing but `fetch`.
 * @see docs/how-istio-does-it/kubernetes.md#list-and-watch
 */
export function kubernetesSource(
  client: ApiClient,
  options: KubernetesSourceOptions,
): Source<readonly KubernetesObject[]> {
  const resources = options.resources ?? registryResources;
  const listOptions: ListOptions = {
    source: options.name,
    pace: options.pace ?? defaultPace,
    ...(options.pageSize === undefined ? {} : { pageSize: options.pageSize }),
  };
  return {
    async snapshot(signal) {
      const lists = new Map<string, ListedItems>();
      for (const resource of resources) {
        lists.set(resource.kind, await listItems(client, resource, listOptions, signal));
      }
      const pods = resources.find(({ kind }) => kind === "Pod");
      if (pods !== undefined && namesUnknownPod(lists)) {
        lists.set("Pod", await listItems(client, pods, listOptions, signal));
      }
      return {
        content: [...lists.values()].flatMap(({ items }) => items),
        version: versionText([...lists.values()].map(({ version }) => version)),
      };
    },
    watch: (signal) => watchAll(client, resources, listOptions, signal),
  };
}

function eventOf(reflectors: readonly Reflector[]): SourceEvent<readonly KubernetesObject[]> {
  const reflections = reflectors.map((reflector) => reflector.current());
  const failure = reflections.find((reflection) => reflection.failure !== "")?.failure;
  if (failure !== undefined) return { failure };
  return {
    content: reflections.flatMap(({ items }) => [...items.values()]),
    version: versionText(reflections.map(({ version }) => version)),
  };
}

/**
 * Hands out the objects of all collections once each of them was listed, and after changes; changes while the consumer
 * is at work come as one.
 */
async function* watchAll(
  client: ApiClient,
  resources: readonly ApiResource[],
  options: ListOptions,
  signal: AbortSignal,
): AsyncGenerator<SourceEvent<readonly KubernetesObject[]>> {
  const bell = createBell();
  // The consumer may also end the watch by leaving its loop.
  const left = new AbortController();
  const until = AbortSignal.any([signal, left.signal]);
  until.addEventListener("abort", bell.ring);
  const reflectors = resources.map((resource) => createReflector(client, resource, options, bell.ring));
  const running = reflectors.map((reflector) => reflector.run(until));
  try {
    for (;;) {
      await bell.next();
      if (until.aborted) return;
      const event = eventOf(reflectors);
      if ("failure" in event || reflectors.every((reflector) => reflector.current().synced)) yield event;
    }
  } finally {
    left.abort();
    await Promise.all(running);
  }
}
