import { typeUrlOf } from "../../snapshot/resource-type.ts";
import { runOf } from "../../streams/messages.ts";
import type { StreamAnswer } from "../../streams/stream.ts";

/** Name of the table of a class that has one; the compiler writes it. */
export const tableName = "names";

/** Whether an answer would tell an agent of no table at all. Istio's agent is not ready before it has one, be it empty. */
export const lacksTable = ({ type, tree, changed }: StreamAnswer): boolean =>
  type === "name_tables" && tree.segments.length === 0 && changed.length === 0;

/** An empty table of names, in place of an answer without resources and of the word that a table is gone. */
export function emptyTable(answer: StreamAnswer): { readonly answer: StreamAnswer; readonly run: Uint8Array } {
  const named = [{ name: tableName, version: answer.version }];
  // A message without any field has no bytes.
  const run = runOf(answer.kind, typeUrlOf("name_tables"), [new Uint8Array()], named);
  return { answer: { ...answer, removed: [] }, run };
}
