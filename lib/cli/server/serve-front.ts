/** The front on one machine, on as many of its cores as it is given: what `npm run serve` runs. */
import type { Logger } from "pino";
import { PortolanError } from "../../base/diagnostic.ts";
import { authenticationFor } from "../../front/auth/open-to.ts";
import { unmatchedRemedy } from "../../front/nodes/unmatched-remedy.ts";
import { createHeadRelay } from "../../front/workers/head-relay.ts";
import { createPrimary } from "../../front/workers/primary.ts";
import { lineToPrimary, startWorkers, workerSlot } from "../../front/workers/processes.ts";
import { createWorker } from "../../front/workers/worker.ts";
import { clusterApis } from "./cluster-keys.ts";
import { believedGenerations, type NodeNews, startFront } from "./front-process.ts";
import type { ServeSettings } from "./serve-settings.ts";
import { servedStore } from "./served-store.ts";

/** A front that serves. */
export interface ServingFront {
  /** Of REST, then of gRPC where that is asked for. Empty in a worker, of which its first process speaks. */
  readonly urls: readonly string[];
  /** Takes no new connection, gives the last answers and ends its workers. */
  close(): Promise<void>;
}

/** HEAD is at most so old. */
const headMs = 1_000;

/**
 * Serves the snapshots of a store. With several workers this process starts the program that it runs once more for each of them; there
 * the same call, with the same settings, serves as one of them.
 *
 * @param isEnding whether it was told to end while it starts: it says nothing of serving then
 * @throws PortolanError for a setting that is none, a store of no known kind, and a port that is taken
 */
export async function serveFront(
  settings: ServeSettings,
  log: Logger,
  isEnding: () => boolean = () => false,
): Promise<ServingFront> {
  const slot = workerSlot();
  if (slot !== undefined) return serveAsWorker(settings, log.child({ worker: slot }), slot);
  const news: NodeNews = {
    onRefusal: (refusal) => log.warn(refusal, "a node rejects a response (NACK)"),
    onStranger: (unmatched) =>
      log.warn({ ...unmatched, remedy: unmatchedRemedy(unmatched) }, "a node matches no class"),
  };
  const serving =
    settings.workers > 1 ? await serveByWorkers(settings, log, news) : await serveAlone(settings, log, news);
  if (isEnding()) return serving;
  log.info({ urls: serving.urls, store: settings.store, workers: settings.workers }, "serving");
  log.info(
    `authentication is ${authenticationFor(settings.authentication, settings.host, { clusterApi: clusterApis(), authorityIssuers: settings.ca ? async () => [] : undefined }).description}`,
  );
  return serving;
}

async function serveAlone(settings: ServeSettings, log: Logger, news: NodeNews): Promise<ServingFront> {
  const { servers, front, close } = await startFront(settings, log, news);
  // A store that is silent now may answer later.
  await front.heads.current().then(
    (head) => head === undefined && log.warn(firstPublish(settings)),
    (cause: unknown) => log.error(cause),
  );
  return { urls: servers.map(({ url }) => url), close };
}

async function serveByWorkers(settings: ServeSettings, log: Logger, news: NodeNews): Promise<ServingFront> {
  const store = await servedStore(settings);
  const onError = (cause: unknown) => log.error(cause);
  // Before the relay, which may tell of a change at once.
  const generations = await believedGenerations(settings, onError);
  const relay = createHeadRelay(store, { everyMs: headMs, now: Date.now, onChange: () => primary.headChanged() });
  const storeMs = async () => store.time?.();
  const primary = createPrimary({ relay, storeMs, generations, ...news, now: Date.now, onError });
  const { urls, close } = await startWorkers({ count: settings.workers, primary, onDeath: (what) => log.error(what) });
  const head = await relay.read(undefined);
  if (head.kind === "absent") log.warn(firstPublish(settings));
  if (head.kind === "failed") log.error(head.reason);
  return { urls, close };
}

async function serveAsWorker(settings: ServeSettings, log: Logger, slot: number): Promise<ServingFront> {
  const line = lineToPrimary();
  const worker = createWorker(line, Date.now);
  const news: NodeNews = {
    onRefusal: (refusal) => line.send({ kind: "refusal", refusal }),
    onStranger: (unmatched) => line.send({ kind: "stranger", unmatched }),
  };
  try {
    const started = await startFront(settings, log, news, { worker, slot });
    let closing: Promise<void> | undefined;
    const close = () => {
      closing ??= started.close().finally(() => process.disconnect?.());
      return closing;
    };
    worker.onClose(() => void close());
    line.send({ kind: "serving", urls: started.servers.map(({ url }) => url) });
    return { urls: [], close };
  } catch (cause) {
    // The first process says it, once for all, and this one ends.
    if (!(cause instanceof PortolanError)) throw cause;
    line.send({ kind: "failed", reason: cause.message });
    process.disconnect?.();
    return { urls: [], close: async () => {} };
  }
}

const firstPublish = ({ store }: ServeSettings): string =>
  `nothing was published to ${store} yet: what compiles for it will, or \`portolan push FOLDER --store ${store}\` does`;
