import { answerCompiled, type CompiledLegacy, type DocumentRef } from "../../lib/legacy/compiled-legacy.ts";
import type { NodeId } from "../../lib/legacy/node-id.ts";
import type { ParsedV1Request, V1Answer } from "../../lib/legacy/v1-request.ts";
import { openDocument } from "../../lib/snapshot/legacy/read-document.ts";

/** An answer from compiled documents with the body that a front puts together. */
export async function wholeAnswer(compiled: CompiledLegacy, question: ParsedV1Request): Promise<V1Answer> {
  const { answer, stored } = answerCompiled(compiled.index, question);
  if (stored === undefined) return answer;
  return { ...answer, body: await wholeText(compiled, stored.ref, stored.node) };
}

/** The text of a document. @param node fills the holes; absent: they stay */
export async function wholeText({ texts }: CompiledLegacy, ref: DocumentRef, node?: NodeId): Promise<string> {
  const textOf = (hash: string): string => {
    const text = texts[hash];
    if (text === undefined) throw new Error(`no text ${hash}`);
    return text;
  };
  const opened = await openDocument(
    { ref, node },
    {
      legacyText: async (hash) => textOf(hash),
      legacyChunk: async (hash) => new TextEncoder().encode(textOf(hash)),
    },
  );
  const body = new Uint8Array(opened.bytes);
  let at = 0;
  for await (const chunk of opened.chunks()) {
    body.set(chunk, at);
    at += chunk.length;
  }
  if (at !== opened.bytes) throw new Error(`${at} bytes, and ${opened.bytes} were announced`);
  return new TextDecoder().decode(body);
}
