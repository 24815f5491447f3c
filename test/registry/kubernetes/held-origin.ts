import type { Origin, OriginObject, OriginSink, PackedObject } from "../../../lib/registry/origin/origin.ts";

/** What an origin has told so far, for a test to look at. */
export class HeldOrigin implements OriginSink {
  readonly parts = new Map<string, Map<string, OriginObject | PackedObject>>();
  readonly failures = new Map<string, string>();
  /** Everything that was told: `whole Pod 2`, `put Pod/shop/a`, `gone Pod/shop/a`, `failed Pod`, `followed Pod`. */
  readonly told: string[] = [];
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  readonly origin: Origin;

  constructor(origin: Origin) {
    this.origin = origin;
    this.#running = origin.follow(this, this.#stop.signal);
  }

  whole(part: string, objects: readonly (OriginObject | PackedObject)[]): boolean {
    this.told.push(`whole ${part} ${objects.length}`);
    this.parts.set(part, new Map(objects.map((object) => [object.key, object])));
    this.failures.delete(part);
    return true;
  }

  changed(part: string, changes: Parameters<OriginSink["changed"]>[1]): boolean {
    const held = this.parts.get(part) ?? new Map();
    for (const { key, object } of changes) {
      this.told.push(`${object === undefined ? "gone" : "put"} ${key}`);
      if (object === undefined) held.delete(key);
      else held.set(key, object);
    }
    return true;
  }

  absent(part: string, reason: string): boolean {
    this.told.push(`absent ${part}`);
    const isHeld = (this.parts.get(part)?.size ?? 0) > 0;
    if (isHeld) this.failures.set(part, reason);
    else {
      this.parts.set(part, new Map());
      this.failures.delete(part);
    }
    return isHeld;
  }

  failed(part: string, reason: string): void {
    this.told.push(`failed ${part}`);
    this.failures.set(part, reason);
  }

  followed(part: string): void {
    if (this.failures.delete(part)) this.told.push(`followed ${part}`);
  }

  isWhole(): boolean {
    return this.origin.parts.every((part) => this.parts.has(part));
  }

  keys(part: string): readonly string[] {
    return [...(this.parts.get(part)?.keys() ?? [])].sort();
  }

  async until(holds: (held: this) => boolean): Promise<void> {
    for (let turn = 0; turn < 20_000; turn += 1) {
      if (holds(this)) return;
      await new Promise((resolve) => setImmediate(resolve));
    }
    throw new Error(`never came to hold; told: ${this.told.slice(-20).join(", ")}`);
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}
