import type { Command } from "commander";
import { createRecompiler } from "../../compile/recompile.ts";
import { writeShard } from "../../compile/source-shard.ts";
import { defaultWorldOptions } from "../../compile/world-of.ts";
import type { Diagnostic } from "../../config/diagnostic.ts";
import type { SourceFile } from "../../config/directory.ts";
import { readFolder } from "../../config/folder.ts";
import { postSigned, webhookSecret } from "../post-signed.ts";
import { printDiagnostics, type Terminal } from "../terminal.ts";
import { defaultStore, openStore, storeDescription, storeOption } from "./open-store.ts";

interface Options {
  readonly store: string;
  readonly source: string;
  readonly url?: string;
  readonly binaryForms?: boolean;
}

/** What the compile function answers. */
interface Pushed {
  readonly kind: string;
  readonly version: string;
  readonly generation: number;
  readonly diagnostics: readonly Diagnostic[];
}

export function registerPush(program: Command, terminal: Terminal): void {
  program
    .command("push <folder>")
    .description("Fills a source with a folder's files and compiles: in a store, or through a compile function.")
    .option(storeOption, storeDescription, defaultStore)
    .option("--source <name>", "name of the source", "main")
    .option("--url <url>", "compile function to push to; PORTOLAN_WEBHOOK_SECRET signs the request")
    .option("--binary-forms", "store binary forms beside the texts, for Connect and gRPC")
    .action(async (folder: string, options: Options) => {
      const files = await readFolder(folder);
      const pushed =
        options.url === undefined ? await pushToStore(files, options) : await pushToUrl(files, options.url, options);
      printDiagnostics(terminal, pushed.diagnostics);
      terminal.out(resultText(pushed));
    });
}

function resultText({ kind, generation, version }: Pushed): string {
  const root = version.slice(0, 12);
  if (kind !== "pinned") return `${kind}: generation ${generation} leads to ${root}`;
  return `pinned: ${root} is recorded as generation ${generation}, and served to nobody; \`portolan status\` says why`;
}

async function pushToStore(
  files: readonly SourceFile[],
  { store: where, source, binaryForms = false }: Options,
): Promise<Pushed> {
  const store = openStore(where);
  await writeShard(store, source, files);
  return createRecompiler({ store, sources: [source], world: { ...defaultWorldOptions, binaryForms } })();
}

async function pushToUrl(files: readonly SourceFile[], url: string, { source }: Options): Promise<Pushed> {
  const path = `/sources/${encodeURIComponent(source)}`;
  return JSON.parse(await postSigned(url, path, JSON.stringify({ files }), webhookSecret()));
}
