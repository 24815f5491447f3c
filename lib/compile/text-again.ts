import type { CompiledResource } from "../snapshot/compiled.ts";
import { madeAgain } from "../snapshot/made-again.ts";
import { type ResourceType, typeUrlOf } from "../snapshot/resource-type.ts";

/** Texts from this length on, in UTF-16 code units, are not held: a mesh has far more in long ones than in short ones. */
const longText = 1024;

/**
 * A text that is there as long as it is used, and made again for whoever asks later. It is asked for when it is written, and after that
 * hardly ever, while what it is made of stays anyway.
 *
 * @param make gives the same text each time
 */
export const textAgain = (text: string, make: () => string): (() => string) =>
  text.length < longText ? () => text : textMadeAgain(new WeakRef({ text }), make);

/** Apart from the text, which its function would hold otherwise. */
function textMadeAgain(first: WeakRef<{ readonly text: string }>, make: () => string): () => string {
  const held = madeAgain(first, () => ({ text: make() }));
  return () => held().text;
}

/** The JSON of a message with its type in front, as every resource is written. */
export const messageText = (type: ResourceType, json: object): string =>
  JSON.stringify({ "@type": typeUrlOf(type), ...json });

/** A resource of one text. */
export class WrittenResource implements CompiledResource {
  readonly name: string;
  readonly version: string;
  readonly from: readonly string[];
  readonly binary?: Uint8Array<ArrayBuffer>;
  readonly #text: () => string;

  constructor({ name, version, from, binary }: Omit<CompiledResource, "text" | "runs">, text: () => string) {
    this.name = name;
    this.version = version;
    this.from = from;
    if (binary !== undefined) this.binary = binary;
    this.#text = text;
  }

  get text(): string {
    return this.#text();
  }
}
