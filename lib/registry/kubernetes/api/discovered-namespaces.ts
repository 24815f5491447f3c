import { errorsOf } from "../../../base/diagnostic.ts";
import { fieldsOf, stringsOf, textOf } from "../../../base/untyped.ts";
import type { LabelSelector } from "../../../config/kinds/selector.ts";
import { readMeshConfig } from "../../../config/read-mesh-config.ts";
import { sameValue } from "../../changes/same.ts";
import type { OriginObject, OriginSink, PackedObject } from "../../origin/origin.ts";
import { splitEntry } from "../../origin/packed-object.ts";
import { isDiscovered, type Namespace } from "../namespace.ts";

/** Which namespaces the mesh reads, as its `discoverySelectors` and their labels say. */
export interface DiscoveredNamespaces {
  reads(namespace: string): boolean;
  /**
   * Listens to the mesh's settings and the namespaces on their way to the sink.
   *
   * @param changed is called when another set of namespaces is read
   */
  listen(sink: OriginSink, changed: () => void): OriginSink;
}

export function discoveredNamespaces(): DiscoveredNamespaces {
  const namespaces = new Map<string, Namespace>();
  let selectors: readonly LabelSelector[] = [];
  /** The last valid settings: fields with errors stay as these have them. */
  let valid: string | undefined;
  const reads = (namespace: string): boolean => isDiscovered(selectors, namespaces.get(namespace));
  const read = (): readonly string[] =>
    selectors.length === 0 ? ["every one"] : [...namespaces.keys()].filter(reads).sort();
  let last = read();

  const learn = (key: string, told: OriginObject | PackedObject | undefined): void => {
    const [kind, , name = ""] = key.split("/");
    if (kind !== "ConfigMap" && kind !== "Namespace") return;
    const object = told !== undefined && "entry" in told ? JSON.parse(splitEntry(told.entry).json) : told?.object;
    const { metadata, data } = fieldsOf(object);
    if (kind === "ConfigMap") {
      const text = textOf(fieldsOf(data).mesh);
      const { value, diagnostics } = readMeshConfig(text, undefined, valid);
      selectors = value.discoverySelectors;
      if (errorsOf(diagnostics).length === 0) valid = text;
    }
    if (kind !== "Namespace") return;
    const { labels, annotations } = fieldsOf(metadata);
    if (object === undefined) namespaces.delete(name);
    else namespaces.set(name, { labels: stringsOf(labels), annotations: stringsOf(annotations) });
  };
  const settle = (changed: () => void): void => {
    const now = read();
    if (sameValue(now, last)) return;
    last = now;
    changed();
  };
  return {
    reads,
    listen: (sink, changed) => ({
      ...sink,
      whole(part, objects) {
        if (part === "Namespace") namespaces.clear();
        // One that is gone leaves the last valid settings in force, as one that says nothing does.
        if (part === "ConfigMap" && objects.length === 0) learn(`${part}/`, undefined);
        for (const object of objects) learn(object.key, object);
        const isTaken = sink.whole(part, objects);
        settle(changed);
        return isTaken;
      },
      changed(part, changes) {
        for (const { key, object } of changes) learn(key, object);
        const isTaken = sink.changed(part, changes);
        settle(changed);
        return isTaken;
      },
    }),
  };
}
