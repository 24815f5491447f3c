import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { InvalidArgumentError, Option } from "commander";
import { createWorldRecompiler } from "../compile/recompile.ts";
import { writeShard } from "../compile/source-shard.ts";
import { coalesce } from "../compile/webhook/coalesce.ts";
import { defaultWorldOptions } from "../compile/world-of.ts";
import { PortolanError } from "../config/diagnostic.ts";
import type { SourceFile } from "../config/directory.ts";
import { readFolder, watchFolder } from "../config/folder.ts";
import { frontApp } from "../front/app.ts";
import { authenticationFor } from "../front/auth/open-to.ts";
import { settingText } from "../front/auth/setting-file.ts";
import { createFront } from "../front/front.ts";
import { type RunningServer, serveHttp } from "../front/node-server.ts";
import { prometheusMetrics } from "../front/prometheus.ts";
import type { LegacyRelease } from "../mesh/world.ts";
import { heldPace } from "../snapshot/steps.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { analysisOf } from "./analysis-report.ts";
import { bootstrapFor, bootstrapText, proxiesIn, sampleFolder } from "./bootstrap.ts";
import { devReport, type Publication } from "./dev-report.ts";
import { openStore } from "./snapshots/open-store.ts";
import type { Register, Terminal } from "./terminal.ts";

interface Options {
  readonly port: number;
  readonly host: string;
  readonly store?: string;
  readonly legacyApi?: boolean;
  readonly legacyRelease: LegacyRelease;
  readonly certificates: "sds" | "files";
  readonly allowEmpty?: boolean;
  readonly once?: boolean;
  readonly json?: boolean;
}

/** `portolan dev [DIR]`: compile, publish, serve and watch a folder. */
export const registerDev: Register = (program, terminal) => {
  program
    .command("dev [dir]")
    .description("Compiles a folder, publishes it to a file store, serves it to Envoys and follows every saved file.")
    .option("--port <port>", "port of the front, 0 takes any (default: $PORT, else 8080)", portNumber, defaultPort())
    .option("--host <address>", "address that the front listens on", "127.0.0.1")
    .option("--store <folder>", "file store (default: .portolan/dev-…, one for each folder)")
    .option("--legacy-api", "compile the answers of the REST v1 API too")
    .addOption(
      new Option("--legacy-release <release>", "the same, as this release gave them; 0.7 served VirtualServices too")
        .choices(["0.7", "0.8"])
        .default("0.8")
        .implies({ legacyApi: true }),
    )
    .addOption(
      new Option("--certificates <where>", "mTLS certificates from an SDS agent, or from files in /etc/certs")
        .choices(["sds", "files"])
        .default("sds"),
    )
    .option("--allow-empty", "go on although the folder holds no object")
    .option("--once", "publish once and leave: no server, no watching")
    .option("--json", "one JSON object a line instead of text")
    .addHelpText(
      "after",
      "\nExamples:\n  portolan dev\n  portolan dev my-mesh/ --port 9000\n  portolan dev my-mesh/ --once --json",
    )
    .action(async (dir: string | undefined, options: Options) => {
      await dev(dir ?? sampleFolder, options, terminal);
    });
};

async function dev(folder: string, options: Options, terminal: Terminal): Promise<void> {
  const authentication = authenticationFor(settingText(process.env.PORTOLAN_AUTHENTICATION), options.host);
  const storeFolder =
    options.store ?? `.portolan/dev-${createHash("sha256").update(resolve(folder)).digest("hex").slice(0, 8)}`;
  const store = await openStore(storeFolder);
  const report = devReport(terminal, { folder, json: options.json === true });
  const publishFolder = folderPublisher(folder, store, options);
  const first = await publishFolder();
  report.published(first.publication);
  if (options.once === true) return;

  const front = createFront({
    authentication,
    store,
    maxHoldMs: 25_000,
    metrics: prometheusMetrics(),
    onRefusal: report.refused,
    onError: report.failed,
  });
  const server = await serve(frontApp(front), options);
  report.serving(server.url, authentication.description, exampleIn(first.files, server.url));
  const again = coalesce(async () => report.published((await publishFolder()).publication));
  const stopWatching = await watchFolder(folder, () => {
    again().catch(report.failed);
  });
  await new Promise<void>((stop) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop());
  });
  await stopWatching();
  front.close();
  await server.close();
}

/** The bootstrap of one proxy of the folder: a gateway if there is one, since it can be asked from outside. */
function exampleIn(files: readonly SourceFile[], url: string) {
  const proxies = proxiesIn(files);
  const found = proxies.find(({ proxy }) => proxy.type === "router") ?? proxies[0];
  if (found === undefined) return undefined;
  return { proxy: found.proxy.id, bootstrap: bootstrapText(bootstrapFor(found, url, 15_000)) };
}

/** Fills the store's source with the folder and compiles it with all others; each call costs what changed since the one before. */
function folderPublisher(
  folder: string,
  store: ObjectStore,
  { legacyApi = false, legacyRelease, certificates, allowEmpty = false }: Options,
): () => Promise<{ readonly publication: Publication; readonly files: readonly SourceFile[] }> {
  let compiledMs = 0;
  const recompile = createWorldRecompiler({
    store,
    world: { ...defaultWorldOptions, ...(legacyApi ? { legacyApi: legacyRelease } : {}), certificates },
    publisher: { pace: heldPace },
    onCompiled: () => {
      compiledMs = performance.now();
    },
  });
  return async () => {
    const startMs = performance.now();
    const files = await readFolder(folder);
    if (files.length === 0) {
      throw new PortolanError(
        `${folder} holds no .yaml, .yml or .json file; give a folder that does, or try \`npm start\` alone`,
      );
    }
    await writeShard(store, "main", files, { halfSaves: true, allowEmpty });
    const { compiled, result } = await recompile();
    const compileMs = compiledMs - startMs;
    const publishMs = performance.now() - compiledMs;
    // What is served does not wait for the analysers.
    const analysis = analysisOf(compiled.loaded, compiled.diagnostics);
    return { publication: { files: files.length, compiled, analysis, result, compileMs, publishMs }, files };
  };
}

async function serve(app: ReturnType<typeof frontApp>, { port, host }: Options): Promise<RunningServer> {
  try {
    return await serveHttp(app, port, host);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new PortolanError(`cannot listen on ${host}:${port} (${reason}); set PORT or --port to another`, [], cause);
  }
}

function defaultPort(): number {
  const port = process.env.PORT;
  return port === undefined || port === "" ? 8080 : portNumber(port);
}

function portNumber(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidArgumentError("a port is a number from 0 to 65535");
  return port;
}
