import { resolve } from "node:path";
import { createFolderCollector } from "../../collect/folder-collector.ts";
import { serveHttp } from "../../front/node-server.ts";
import { openObjects } from "../config/opened-objects.ts";
import { examplesText } from "../examples.ts";
import type { Register, Terminal } from "../terminal.ts";
import { addCollectOptions, type CollectOptions } from "./collect-options.ts";
import { collectReport } from "./collect-report.ts";
import { readinessApp } from "./readiness.ts";
import { stopOnSignal, untilCompiled } from "./run-collector.ts";

/** `portolan collect dir DIR`: a folder, file by file as it is. */
export const registerCollectDir: Register = (program, terminal) => {
  const command = program
    .command("dir <folder>")
    .description("Mirrors a folder's files, and follows every saved one.")
    .addHelpText(
      "after",
      examplesText(["collect dir my-mesh/ --store s3://mesh/prod", "collect dir my-mesh/ --once --store mesh-store"]),
    );
  addCollectOptions(command, "main").action((folder: string, options: CollectOptions) =>
    collectFolder(folder, options, terminal),
  );
};

async function collectFolder(folder: string, options: CollectOptions, terminal: Terminal): Promise<void> {
  const { source, keyring, port, host, staleAfter, allowEmpty = false, takeOver = false } = options;
  const report = collectReport(terminal, source, options.json === true);
  const stop = stopOnSignal();
  const place = await openObjects({ store: options.store, keyring, isNew: true, warn: terminal.err });
  const compile = untilCompiled(place.compile, report, stop);
  const collector = createFolderCollector({
    store: place.objects,
    source,
    folder,
    origin: `folder ${resolve(folder)}`,
    allowEmpty,
    takeOver,
    storeRescues: place.isRemote,
    pushed(version, files) {
      report.filled(version, files);
      if (options.compile && options.once !== true) compiling = compile();
    },
    failed: report.failed,
  });
  let compiling = Promise.resolve();
  await collector.once();
  if (options.once === true) {
    if (options.compile) report.compiled(await place.compile());
    return;
  }
  const states = () => [collector.state()];
  const server =
    port === undefined ? undefined : await serveHttp(readinessApp({ states, staleAfter, now: Date.now }), port, host);
  if (server !== undefined) report.serving(server.url);
  report.following(`folder ${folder}`);
  await collector.run(stop);
  await compiling;
  await server?.close();
}
