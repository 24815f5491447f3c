import { answerCompiled, type CompiledLegacy } from "../../lib/snapshot/legacy/compiled-legacy.ts";
import type { V1Answer, V1Question } from "../../lib/snapshot/legacy/question.ts";
import { openDocument } from "../../lib/snapshot/legacy/read-document.ts";

/** An answer from compiled documents with the body that a front puts together. */
export async function wholeAnswer({ index, texts }: CompiledLegacy, question: V1Question): Promise<V1Answer> {
  const { answer, stored } = answerCompiled(index, question);
  if (stored === undefined) return answer;
  const textOf = (hash: string): string => {
    const text = texts[hash];
    if (text === undefined) throw new Error(`no text ${hash}`);
    return text;
  };
  const opened = await openDocument(stored, {
    legacyText: async (hash) => textOf(hash),
    legacyChunk: async (hash) => new TextEncoder().encode(textOf(hash)),
  });
  const body = new Uint8Array(opened.bytes);
  let at = 0;
  for await (const chunk of opened.chunks()) {
    body.set(chunk, at);
    at += chunk.length;
  }
  if (at !== opened.bytes) throw new Error(`${at} bytes, and ${opened.bytes} were announced`);
  return { ...answer, body: new TextDecoder().decode(body) };
}
