import type { CompiledResource } from "../../snapshot/compiled.ts";
import { type ResourceType, typeUrlOf } from "../../snapshot/resource-type.ts";
import { retain } from "../../snapshot/retained.ts";

/** Texts from this length on, in UTF-16 code units, are evictable: most of a mesh's text is in long ones. */
const longText = 1024;

/** The JSON of a message with its type in front, as every resource is written. */
export const messageText = (type: ResourceType, json: object): string =>
  JSON.stringify({ "@type": typeUrlOf(type), ...json });

interface LongText {
  readonly text: string;
}

/** Retained only while a compile runs. */
function weakly(long: LongText): WeakRef<LongText> {
  retain(long, long.text.length);
  return new WeakRef(long);
}

/**
 * A message's text, which the garbage collector may take and which is made again on the next read. It is read when it is written, and rarely
 * after that, while the message stays anyway. One object without closures: a mesh has thousands.
 */
export class EvictableText {
  readonly #type: ResourceType;
  readonly #json: object;
  /** Itself where it is short. */
  #text: string | WeakRef<LongText>;

  /** @param text as `messageText` writes it, from parts perhaps */
  constructor(type: ResourceType, json: object, text: string = messageText(type, json)) {
    this.#type = type;
    this.#json = json;
    this.#text = text.length < longText ? text : weakly({ text });
  }

  get text(): string {
    if (typeof this.#text === "string") return this.#text;
    const known = this.#text.deref();
    if (known !== undefined) return known.text;
    const again = { text: messageText(this.#type, this.#json) };
    this.#text = weakly(again);
    return again.text;
  }
}

/** A resource of one text. */
export class WrittenResource implements CompiledResource {
  readonly name: string;
  readonly version: string;
  readonly from: readonly string[];
  readonly binary?: Uint8Array<ArrayBuffer>;
  readonly #written: EvictableText;

  constructor({ name, version, from, binary }: Omit<CompiledResource, "text" | "runs">, written: EvictableText) {
    this.name = name;
    this.version = version;
    this.from = from;
    if (binary !== undefined) this.binary = binary;
    this.#written = written;
  }

  get text(): string {
    return this.#written.text;
  }
}
