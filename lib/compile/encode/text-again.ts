import type { CompiledResource } from "../../snapshot/compiled.ts";
import { hold } from "../../snapshot/held.ts";
import { type ResourceType, typeUrlOf } from "../../snapshot/resource-type.ts";

/** Texts from this length on, in UTF-16 code units, are not held: a mesh has far more in long ones than in short ones. */
const longText = 1024;

/** The JSON of a message with its type in front, as every resource is written. */
export const messageText = (type: ResourceType, json: object): string =>
  JSON.stringify({ "@type": typeUrlOf(type), ...json });

interface LongText {
  readonly text: string;
}

/** Held by nobody but a compile that is under way. */
function weakly(long: LongText): WeakRef<LongText> {
  hold(long, long.text.length);
  return new WeakRef(long);
}

/**
 * A message's text, which is there as long as it is used, and made again for whoever asks later. It is asked for when it is written, and
 * after that hardly ever, while the message stays anyway. One object and no functions: a mesh has thousands.
 */
export class TextAgain {
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
  readonly #written: TextAgain;

  constructor({ name, version, from, binary }: Omit<CompiledResource, "text" | "runs">, written: TextAgain) {
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
