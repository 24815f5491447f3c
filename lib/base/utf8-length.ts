import { Buffer } from "node:buffer";

/** Bytes of a text in UTF-8; nothing is encoded for it. */
export const utf8Length = (text: string): number => Buffer.byteLength(text);
