import type { SourceFile } from "../config/folder/directory.ts";
import { openLedger } from "./ledger/ledger.ts";
import type { LedgerStore } from "./ledger/ledger-port.ts";

/** A ledger's content as a compiler reads sources: one JSON document for each object, named by its key. */
export interface LedgerFiles {
  /** Version of the ledger that they are. */
  readonly version: string;
  readonly files: readonly SourceFile[];
}

/** @param prefix where the ledger lies, without a final slash */
export async function ledgerFiles(store: LedgerStore, prefix: string): Promise<LedgerFiles> {
  const ledger = openLedger(store, prefix);
  const { root } = await ledger.head();
  const entries = await ledger.list(root);
  const files = await Promise.all(
    entries.map(async ([key, hash]) => ({ file: `${key}.yaml`, text: await ledger.text(hash) })),
  );
  return { version: root, files };
}
