import type { Fields } from "../../lib/base/untyped.ts";
import type { Origin, OriginChange, OriginObject, OriginSink, PackedObject } from "../../lib/registry/origin/origin.ts";
import { splitEntry } from "../../lib/registry/origin/packed-object.ts";

/** An origin that tells what a test says. */
export class FakeOrigin implements Origin {
  readonly about: { readonly kind: "kubernetes"; readonly cluster: string };
  readonly parts: readonly string[];
  /** Which one it is. */
  which: string | undefined;
  sink: OriginSink | undefined;
  #followed: (() => void) | undefined;
  /** Resolves when somebody follows. */
  readonly following: Promise<void>;

  constructor(parts: readonly string[] = ["all"], cluster = "Kubernetes") {
    this.about = { kind: "kubernetes", cluster };
    this.parts = parts;
    this.following = new Promise((resolve) => {
      this.#followed = resolve;
    });
  }

  identity(): string | undefined {
    return this.which;
  }

  async follow(sink: OriginSink, signal: AbortSignal): Promise<void> {
    this.sink = sink;
    this.#followed?.();
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener("abort", () => resolve());
    });
  }

  whole(part: string, objects: readonly OriginObject[]): void {
    this.sink?.whole(part, objects);
  }

  changed(part: string, ...changes: readonly OriginChange[]): void {
    this.sink?.changed(part, changes);
  }
}

export function thing(name: string, version = "1", fields: Fields = {}): OriginObject {
  const object = { apiVersion: "v1", kind: "Service", metadata: { name, namespace: "shop" }, ...fields };
  return { key: `Service/shop/${name}`, version, object };
}

export const put = (object: OriginObject): OriginChange => ({ key: object.key, object });
export const gone = ({ key }: OriginObject): OriginChange => ({ key, object: undefined });

/** Objects with what they hold, however an origin has told them. */
export const unpacked = (told: readonly (OriginObject | PackedObject)[]): readonly OriginObject[] =>
  told.map((one) => {
    if (!("entry" in one)) return one;
    const { version, json } = splitEntry(one.entry);
    return { key: one.key, version, object: JSON.parse(json) };
  });
