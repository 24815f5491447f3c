import { PortolanError } from "../../base/diagnostic.ts";
import { fieldsOf, textOf } from "../../base/untyped.ts";
import { sourceNames } from "../../compile/shards/source-names.ts";
import { seeLease } from "../../compile/triggers/lease.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { diagnosticsIn } from "../problem-text.ts";

/** So many sources are named. */
const maxNamed = 10;

/** Why a store has no HEAD, as far as it is known, and what to do: its sources may be filled although no compile has published them. */
export async function nothingPublished(store: ObjectStore): Promise<PortolanError> {
  const names = await sourceNames(store);
  if (names.length === 0)
    return new PortolanError("nothing was published yet: no source is filled; `portolan push FOLDER` fills one");
  const { kind, reason, diagnostics } = fieldsOf((await seeLease(store)).note.outcome);
  const next = "`portolan recompile` compiles what they hold, and publishes it or reports what is wrong";
  const named = `${names.slice(0, maxNamed).join(", ")}${names.length > maxNamed ? ` and ${names.length - maxNamed} more` : ""}`;
  const filled = `nothing was published yet: sources are filled (${named})`;
  if (kind !== "failed") return new PortolanError(`${filled}, and nothing has compiled them; ${next}`);
  return new PortolanError(`${filled}, and the last compile failed: ${textOf(reason)}`, diagnosticsIn(diagnostics));
}
