import { resolve } from "node:path";
import type { CollectorState } from "../../collect/collector.ts";
import { createShardWriter } from "../../compile/shards/write-shard.ts";
import { coalesce } from "../../compile/webhook/coalesce.ts";
import { PortolanError } from "../../config/diagnostic.ts";
import { readFolder, watchFolder } from "../../config/folder/folder.ts";
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
  const { source, keyring, port, host, staleAfter, allowEmpty = false } = options;
  const origin = `folder ${resolve(folder)}`;
  // Two that take over would take the source from each other for ever.
  let { takeOver = false } = options;
  const report = collectReport(terminal, source, options.json === true);
  const stop = stopOnSignal();
  const place = await openObjects({ store: options.store, keyring, isNew: true });
  const compile = untilCompiled(place.compile, report, stop);
  let state: CollectorState = {
    source,
    isFilled: false,
    objects: 0,
    pushes: 0,
    pushedBytes: 0,
    asOfMs: 0,
    failure: "",
  };
  let version = "";
  const write = createShardWriter(place.objects, source);
  const push = async (): Promise<void> => {
    const readMs = Date.now();
    const files = await readFolder(folder);
    const options = { halfSaves: true, allowEmpty, origin, takeOver, storeRescues: place.isRemote };
    const written = await write(files, options);
    takeOver = false;
    state = { ...state, isFilled: true, asOfMs: readMs, failure: "" };
    if (written === version) return;
    version = written;
    state = { ...state, objects: files.length, pushes: state.pushes + 1 };
    report.filled(version, files.length);
  };
  await push();
  if (options.once === true) {
    if (options.compile) report.compiled(await place.compile());
    return;
  }
  // The watch is the origin's word: while it stands, the source is as the folder is.
  const states = () => [state.failure === "" ? { ...state, asOfMs: Date.now() } : state];
  const server =
    port === undefined ? undefined : await serveHttp(readinessApp({ states, staleAfter, now: Date.now }), port, host);
  if (server !== undefined) report.serving(server.url);
  report.following(`folder ${folder}`);
  const again = coalesce(async () => {
    try {
      const before = version;
      await push();
      if (options.compile && version !== before) await compile();
    } catch (cause) {
      state = { ...state, failure: cause instanceof PortolanError ? cause.message : String(cause) };
      report.failed(cause);
    }
  });
  const unwatch = await watchFolder(folder, () => void again());
  // What was saved while the watch was set up.
  void again();
  if (options.compile) await compile();
  await new Promise<void>((resolve) => {
    if (stop.aborted) resolve();
    stop.addEventListener("abort", () => resolve());
  });
  await unwatch();
  await server?.close();
}
