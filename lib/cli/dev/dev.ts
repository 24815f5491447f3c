import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { InvalidArgumentError, Option } from "commander";
import { Registry } from "prom-client";
import { errorsOf, PortolanError } from "../../base/diagnostic.ts";
import { isLoopback } from "../../base/loopback.ts";
import { behindSources, sourceAges } from "../../compile/collected/source-ages.ts";
import { coalesce } from "../../compile/webhook/coalesce.ts";
import { readFiles } from "../../config/folder/directory.ts";
import { readFolder, watchFolder } from "../../config/folder/folder.ts";
import type { ConfigSource } from "../../config/kinds/mesh-config.ts";
import { frontApp } from "../../front/app.ts";
import { type Authentication, noAuthentication } from "../../front/auth/authentication.ts";
import { authenticationFor } from "../../front/auth/open-to.ts";
import { settingText } from "../../front/auth/setting-file.ts";
import { serveGrpc } from "../../front/connect/grpc-server.ts";
import { createFront, type Front } from "../../front/front.ts";
import { hostGuard } from "../../front/host-guard.ts";
import { closeServers, listening, type RunningServer, serveHttp } from "../../front/node-server.ts";
import { recordedNodes } from "../../front/nodes/node-records.ts";
import type { Refusal } from "../../front/nodes/refusals.ts";
import { prometheusMetrics } from "../../front/prometheus.ts";
import { loadConsole } from "../../front/shell/load-console.ts";
import { limits } from "../../limits/limits.ts";
import type { CertificateSource, LegacyRelease } from "../../mesh/world.ts";
import { lookupFacts, lookupReports } from "../../resolve/lookup-reports.ts";
import { headFacts } from "../../snapshot/head/head-facts.ts";
import { heldPace } from "../../snapshot/head/plan-stages.ts";
import type { Trust } from "../../snapshot/head/signatures.ts";
import { isFolder } from "../../storage/store-location.ts";
import { readConsulAddress } from "../collect/collect-consul.ts";
import { sourceAddress } from "../collect/collect-mcp.ts";
import { compileTelemetry } from "../compile-telemetry.ts";
import { noteDevStore } from "../dev-stores.ts";
import { refusalLocations } from "../inspect/refusal-locations.ts";
import { storeCauses } from "../inspect/store-causes.ts";
import { devStorePrefix, holdsSomething, namedStore, openToWrite, storeOption } from "../named-store.ts";
import { counted } from "../numbers.ts";
import { ownBuild } from "../own-build.ts";
import { certificatesOption, pollDelayOption } from "../proxy/bootstrap.ts";
import { resolverOf } from "../resolve/resolver-of.ts";
import { keyringOption, trustOf } from "../secrets/keyring.ts";
import { rolloutMoves } from "../server/rollout-moves.ts";
import { hostsIn } from "../server/serve-settings.ts";
import { sampleFolder } from "../shipped.ts";
import type { Register, Terminal } from "../terminal.ts";
import { createDevCompiler } from "./dev-compiler.ts";
import {
  type DevOrigin,
  type DevOriginOptions,
  devOrigins,
  fillOnce,
  followOrigins,
  namesOrigins,
} from "./dev-origins.ts";
import { type DevReport, devReport } from "./dev-report.ts";
import type { DevSettings } from "./dev-settings.ts";
import { lookupTeller } from "./lookup-teller.ts";

interface Options extends DevOriginOptions {
  readonly port: number;
  readonly grpcPort?: number | undefined;
  readonly host: string;
  readonly store?: string;
  readonly keyring: string;
  readonly legacyApi?: boolean;
  readonly legacyRelease: LegacyRelease;
  readonly certificates: CertificateSource;
  readonly pollDelay: number;
  readonly allowEmpty?: boolean;
  readonly once?: boolean;
  readonly json?: boolean;
}

/** Its front holds polls, so a delay costs no requests, and a short one brings a change sooner. */
const heldPollDelayMs = 100;

/** `portolan dev [DIR]`: compile, publish, serve and watch a folder. */
export const registerDev: Register = (program, terminal) => {
  program
    .command("dev [dir]")
    .description(
      "Compiles a folder, publishes it to a file store and serves it to Envoys; compiles again on every saved file.",
    )
    .addOption(
      new Option("--port <port>", "port of the front, 0 takes any").env("PORT").argParser(portNumber).default(8080),
    )
    .addOption(
      new Option("--grpc-port <port>", "port for streams over gRPC (ADS), 0 takes any; without it there are none")
        .env("PORTOLAN_GRPC_PORT")
        // An empty variable is none.
        .argParser((text) => (text === "" ? undefined : portNumber(text))),
    )
    .option("--host <address>", "address that the front listens on", "127.0.0.1")
    .addOption(storeOption("", `${devStorePrefix}…, one for each folder`))
    .addOption(keyringOption())
    .option("--legacy-api", "compile the answers of the REST v1 API too")
    .addOption(
      new Option("--legacy-release <release>", "the same, as this release gave them; 0.7 served VirtualServices too")
        .choices(["0.7", "0.8"])
        .default("0.8")
        .implies({ legacyApi: true }),
    )
    .addOption(certificatesOption())
    .addOption(pollDelayOption("").default(heldPollDelayMs))
    .option("--allow-empty", "continue when the folder has no objects")
    .addOption(
      new Option("--kube [context]", "a live Kubernetes cluster, the first the primary one; may be repeated")
        .preset("")
        .argParser((context: string, before: readonly string[] = []) => [...before, context]),
    )
    .option("--consul <url>", "services of a live Consul, by the address of its agent", readConsulAddress)
    .option("--mcp <address>", "a live server of configuration, as `collect mcp` takes it; may be repeated", gather)
    .option("--once", "publish once and exit, without a server and without watching")
    .option("--json", "one JSON object a line instead of text")
    .addHelpText(
      "after",
      "\nExamples:\n  portolan dev\n  portolan dev my-mesh/ --port 9000\n  portolan dev my-mesh/ --once --json\n  portolan dev --grpc-port 18000\n  portolan dev --kube prod\n  portolan dev my-mesh/ --kube east --kube west\n  portolan dev my-mesh/ --consul http://127.0.0.1:8500\n  portolan dev my-mesh/ --mcp xds://nacos.internal:18848",
    )
    .action(async (dir: string | undefined, options: Options) => {
      const isSample = dir === undefined && !namesOrigins(options);
      const folder = isSample ? sampleFolder() : dir;
      if (isSample && options.json !== true && folder?.includes("node_modules")) {
        terminal.err(`${folder} came with portolan; to change it: cp -r ${folder} my-mesh && portolan dev my-mesh`);
      }
      await dev(folder, options, terminal);
    });
};

async function dev(folder: string | undefined, options: Options, terminal: Terminal): Promise<void> {
  const authentication = authenticationFor(settingText(process.env.PORTOLAN_AUTHENTICATION), options.host);
  const origins = await devOrigins(options, await configSourcesIn(folder), terminal.err);
  const what = [...(folder === undefined ? [] : [folder]), ...origins.map(({ description }) => description)].join(", ");
  const named = await namedStore(options.store);
  const where = named ?? ownStore(folder, origins);
  const note = { what, ...(folder === undefined ? {} : { folder: resolve(folder) }) };
  const trust = await trustOf(options.keyring);
  const report = devReport(terminal, {
    what,
    folder,
    contexts: options.kube ?? [],
    origins: origins.length,
    store: where,
    json: options.json === true,
  });
  const settings = settingsFor(folder, origins, options);
  const leave = named === undefined ? await noteDevStore(where, note) : async () => {};
  if (options.once === true) {
    await leave();
    const store = await openToWrite(where);
    await fillOnce(origins, store);
    // Otherwise it is another process that compiles.
    const { createPublisher } = await import("./publisher.ts");
    const publish = createPublisher(settings, { store, trust, build: await ownBuild() });
    const first = await publish();
    const { hasChanged } = await resolverOf(store, trust)();
    const { publication } = hasChanged ? await publish() : first;
    report.published(publication);
    const errors = errorsOf(publication.diagnostics).length;
    if (errors > 0) throw new PortolanError(counted(errors, "error"));
    return;
  }
  const stopped = untilStopped();
  let { port, grpcPort } = options;
  for (let isAgain = false; ; isAgain = true) {
    const round = await openRound(folder, origins, where, {
      settings,
      trust,
      host: options.host,
      port,
      grpcPort,
      authentication,
      report,
      stopped,
      isAgain,
    });
    // The port that was found stays: Envoys know it.
    port = Number(new URL(round.url).port);
    if (round.grpcUrl !== undefined) grpcPort = Number(new URL(round.grpcUrl).port);
    const end = await Promise.race([stopped, untilGone(where)]);
    await round.close();
    if (end === "stopped") return leave();
    report.gone();
  }
}

const settingsFor = (folder: string | undefined, origins: readonly DevOrigin[], options: Options): DevSettings => ({
  folder,
  sources: origins.map(({ source }) => source),
  keyring: options.keyring,
  ...(options.legacyApi === true ? { legacyApi: options.legacyRelease } : {}),
  certificates: options.certificates,
  pollDelayMs: options.pollDelay,
  // Streams are answered in binary.
  binaryForms: options.grpcPort !== undefined,
  allowEmpty: options.allowEmpty === true,
  json: options.json === true,
});

/** What the mesh's settings name; those that are there when this begins count. */
async function configSourcesIn(folder: string | undefined): Promise<readonly ConfigSource[]> {
  return folder === undefined ? [] : readFiles(await readFolder(folder)).meshConfig.configSources;
}

/** A store of its own for each folder, and for each set of origins. */
function ownStore(folder: string | undefined, origins: readonly DevOrigin[]): string {
  const parts = [...(folder === undefined ? [] : [resolve(folder)]), ...origins.map(({ url }) => url)];
  return devStorePrefix + createHash("sha256").update(parts.join("\n")).digest("hex").slice(0, 8);
}

function untilStopped(): Promise<"stopped"> {
  return new Promise((stop) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop("stopped"));
  });
}

/** How often to look whether key sets are due to be read again. */
const lookUpMs = 10_000;

/** How often to look whether a store's folder is still there. */
const lookMs = 500;

/** Resolves when somebody has deleted the folder that a store lies in; never for a bucket. */
function untilGone(where: string): Promise<"gone"> {
  return new Promise((gone) => {
    if (!isFolder(where)) return;
    const timer = setInterval(async () => {
      // A folder that cannot be read at the moment, as when descriptors are used up, still exists.
      if (await holdsSomething(where).catch(() => true)) return;
      clearInterval(timer);
      gone("gone");
    }, lookMs);
    timer.unref();
  });
}

interface RoundOptions extends Pick<Options, "port" | "grpcPort" | "host"> {
  readonly settings: DevSettings;
  readonly trust: Trust;
  readonly authentication: Authentication;
  readonly report: DevReport;
  readonly stopped: Promise<unknown>;
  /** Not the first: its bootstrap was printed. */
  readonly isAgain: boolean;
}

/** Serves, publishes and watches, for as long as the store is there. @throws PortolanError with nothing left open */
async function openRound(
  folder: string | undefined,
  origins: readonly DevOrigin[],
  where: string,
  { authentication, report, isAgain, stopped, ...options }: RoundOptions,
): Promise<{ readonly url: string; readonly grpcUrl: string | undefined; close(): Promise<void> }> {
  const store = await openToWrite(where);
  const registry = new Registry();
  const telemetry = await compileTelemetry(registry);
  const serving = createFront({
    loadTracer: async () => (await import("../../front/tracing/tracer.ts")).tracer,
    findCauses: storeCauses(store),
    behindSources: () => behindSources(store, Date.now()),
    lookups: () => lookupReports(store),
    authentication,
    store,
    ...(options.trust.trusted === undefined ? {} : { trusted: options.trust.trusted }),
    maxHoldMs: 25_000,
    // Who proves nothing may move HEAD from this machine, and from no other.
    ...(isLoopback(options.host) || authentication !== noAuthentication
      ? { moves: rolloutMoves(store, { ...options.trust, pace: heldPace }) }
      : {}),
    metrics: prometheusMetrics({
      registry,
      sourceAges: () => sourceAges(store, Date.now()),
      lookupFacts: () => lookupFacts(store, Date.now),
      headFacts: () => headFacts(store, Date.now),
    }),
    nodes: recordedNodes(store, { front: undefined, now: Date.now, everyMs: 0, limits, onError: report.failed }),
    onRefusal: (refusal) => {
      tellRefusal(refusal).catch(report.failed);
    },
    onStranger: report.stranger,
    onWanted: () => whenWanted(),
    onError: report.failed,
  });
  let whenWanted = () => {};
  const placed = refusalLocations(store, serving.browsing);
  const front: Front = {
    ...serving,
    explainRefusals: async () => placed(await serving.explainRefusals()),
  };
  async function tellRefusal({ nodeId, type, name }: Refusal): Promise<void> {
    const explained = (await front.explainRefusals()).find(
      (one) => one.nodeId === nodeId && one.type === type && one.name === name,
    );
    if (explained !== undefined) report.refused(explained);
  }
  const servers: RunningServer[] = [];
  const closing: (() => unknown)[] = [telemetry.close, () => closeServers(servers, front.close)];
  const close = async () => {
    for (const one of closing.splice(0).toReversed()) await one();
  };
  try {
    // Before anything is published: a port that is taken ends it.
    const { port, grpcPort, host } = options;
    const remedy = "set PORT or --port to another";
    const servesAnyone = authentication === noAuthentication;
    const guard = hostGuard({ servesAnyone, host, hosts: hostsIn(process.env) });
    const server = await listening(
      serveHttp(frontApp(front, loadConsole), port, host, front.limits, guard, front.serverError),
      `${host}:${port}`,
      remedy,
    );
    servers.push(server);
    const grpcRemedy = "set PORTOLAN_GRPC_PORT or --grpc-port to another";
    const streams =
      grpcPort === undefined
        ? undefined
        : await listening(serveGrpc(front, grpcPort, host), `${host}:${grpcPort}`, grpcRemedy);
    if (streams !== undefined) servers.push(streams);
    const urls = { url: server.url, grpcUrl: streams?.url };
    const { observer } = telemetry;
    const compiler = createDevCompiler({
      store,
      where,
      settings: { ...options.settings, url: server.url },
      observer,
      onWaiting: () => changed(),
    });
    closing.push(compiler.close);
    const publish = async () => {
      const publication = await compiler.publish();
      report.published(publication);
      return publication;
    };
    const resolve = resolverOf(store, options.trust);
    const tellLookups = lookupTeller(report);
    const again = coalesce(publish);
    const resolved = coalesce(async () => {
      const { hasChanged, tried } = await resolve();
      tellLookups(tried);
      if (hasChanged) changed();
    });
    const lookUp = () => {
      resolved().catch(report.failed);
    };
    const changed = () => {
      observer.asked();
      again().then(lookUp, report.failed);
    };
    const looking = setInterval(lookUp, lookUpMs);
    closing.push(() => clearInterval(looking));
    whenWanted = changed;
    const following = await followOrigins(origins, store, report, changed, stopped);
    if (following === undefined) return { ...urls, close };
    closing.push(following.close);
    // Before anything is read: what is saved meanwhile is read once more.
    if (folder !== undefined) closing.push(await watchFolder(folder, changed));
    const first = await again();
    lookUp();
    if (!isAgain) report.serving(urls, authentication.description, first.example);
    return { ...urls, close };
  } catch (cause) {
    await close();
    throw cause;
  }
}

/** An option that may be given several times. */
const gather = (text: string, before: readonly string[] = []): readonly string[] => [...before, sourceAddress(text)];

function portNumber(text: string): number {
  // An empty PORT is none.
  const port = text === "" ? 8080 : Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidArgumentError("a port is a number from 0 to 65535");
  return port;
}
