import { resolve } from "node:path";
import { causeText } from "../../base/cause-text.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { type Collector, type CollectorState, createCollector } from "../../collect/collector.ts";
import { createFolderCollector } from "../../collect/folder-collector.ts";
import { createRegistrationWriter } from "../../collect/registrations/registration-writer.ts";
import type { Log } from "../../compile/telemetry/log.ts";
import { connectCluster } from "../../registry/kubernetes/access/connect.ts";
import { kubernetesOrigin } from "../../registry/kubernetes/api/kubernetes-origin.ts";
import type { Origin } from "../../registry/origin/origin.ts";
import { defaultPace } from "../../registry/origin/retry.ts";
import { sourceOf } from "../../settings/collector-rules.ts";
import type { CollectorSettings } from "../../settings/schema.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { consulOriginFor, defaultConsulFlags, readConsulAddress } from "../collect/collect-consul.ts";
import { defaultMcpFlags, mcpOriginFor } from "../collect/collect-mcp.ts";
import { processName, sharedText } from "../collect/shared-source.ts";

/** An origin that is followed. */
export interface Followed {
  state(): CollectorState;
  /** When it was told to stop. */
  readonly ended: Promise<void>;
}

export interface FollowOptions {
  readonly store: ObjectStore;
  readonly log: Log;
  /** The source holds something else than before. */
  readonly changed: () => void;
  readonly signal: AbortSignal;
}

/**
 * Fills a source from its origin until the signal says stop. What goes wrong is told, and tried again: it costs this source alone.
 *
 * @throws PortolanError for an origin that cannot be meant: a context that is not there, a file that cannot be read
 */
export async function followOrigin(collector: CollectorSettings, options: FollowOptions): Promise<Followed> {
  const { log, signal } = options;
  const source = sourceOf(collector);
  const made = await collectorFor(collector, source, options);
  log.info({ source, kind: collector.kind }, "following");
  let failure = "";
  async function run(): Promise<void> {
    for (let failures = 1; !signal.aborted; failures += 1) {
      try {
        if (collector.kind === "dir") await made.once();
        failure = "";
        return await made.run(signal);
      } catch (cause) {
        failure = causeText(cause);
        log.error({ source, reason: failure }, "the source cannot be filled and stays unchanged");
        await defaultPace.pause(defaultPace.backOff(failures), signal);
      }
    }
  }
  const writing = collector.workloadEntries === true ? writeRegistrations(collector, options) : undefined;
  const ended = Promise.all([run(), writing]).then(() => {});
  return { state: () => ({ ...made.state(), ...(failure === "" ? {} : { failure }) }), ended };
}

/** Writes the WorkloadEntries of machines that register themselves into the cluster. */
async function writeRegistrations(
  { context }: CollectorSettings,
  { store, log, signal }: FollowOptions,
): Promise<void> {
  const writer = createRegistrationWriter({
    client: (await connectCluster(context)).client,
    store,
    wrote: (count) => log.info({ count }, "wrote WorkloadEntries"),
    troubled: (reason) =>
      reason === "" ? log.info({}, "machines have their WorkloadEntries") : log.error({ reason }, "WorkloadEntries"),
  });
  await writer.run(signal);
}

async function collectorFor(
  settings: CollectorSettings,
  source: string,
  { store, log, changed }: FollowOptions,
): Promise<Collector> {
  const { allowEmpty = false, takeOver = false } = settings;
  const { folder } = settings;
  if (settings.kind === "dir" && folder !== undefined) {
    return createFolderCollector({
      store,
      source,
      folder,
      origin: `folder ${resolve(folder)}`,
      allowEmpty,
      takeOver,
      storeRescues: false,
      pushed(version, files) {
        log.info({ source, version, files }, "pushed");
        changed();
      },
      failed: (cause) =>
        log.error({ source, reason: causeText(cause) }, "the folder cannot be read; the source stays unchanged"),
    });
  }
  return createCollector({
    store,
    source,
    origin: await originOf(settings, log),
    allowEmpty,
    takeOver,
    pushed(push) {
      log.info({ source, ...push }, "pushed");
      changed();
    },
    troubled(reason) {
      if (reason === "") log.info({ source }, "in sync");
      else log.warn({ source, reason }, "the origin cannot be read; the source stays unchanged");
    },
    writer: processName(),
    shared(other) {
      if (other === "") log.info({ source }, "no other collector fills the source any more");
      else log.warn({ source, other }, sharedText(other));
    },
  });
}

async function originOf(settings: CollectorSettings, log: Log): Promise<Origin> {
  const { kind, address, context, cluster = "Kubernetes", secretNames = false } = settings;
  switch (kind) {
    case "kube":
      return kubernetesOrigin((await connectCluster(context)).client, { cluster, secretNames });
    case "consul": {
      const { datacenters, health = "any" } = settings;
      const flags = { ...defaultConsulFlags(), health, address: readConsulAddress(address ?? defaultConsulAddress()) };
      return consulOriginFor({ ...flags, ...(datacenters === undefined ? {} : { datacenter: datacenters }) });
    }
    case "mcp": {
      const { kinds, tls, tokenFile, ca, certificate, key, serverName } = settings;
      const said = Object.entries({ kinds, tls, tokenFile, ca, certificate, key, serverName });
      const flags = Object.fromEntries(said.filter(([, value]) => value !== undefined));
      return mcpOriginFor(
        { ...defaultMcpFlags(), ...flags, address: address ?? "" },
        { err: (text) => log.warn({ address }, text) },
      );
    }
    default:
      throw new PortolanError("a collector of kind dir needs its folder");
  }
}

const defaultConsulAddress = (): string => process.env.CONSUL_HTTP_ADDR ?? "http://127.0.0.1:8500";
