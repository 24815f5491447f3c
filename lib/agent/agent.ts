import { setTimeout as sleep } from "node:timers/promises";
import { PortolanError } from "../config/diagnostic.ts";
import { coreTypes } from "../snapshot/resource-type.ts";
import { drainAndEnd } from "./envoy/drain.ts";
import { createEnvoyKeeper, type EnvoyKeeper, oneLine } from "./envoy/envoy-keeper.ts";
import type { EnvoyOptions } from "./envoy/envoy-process.ts";
import { createReadiness } from "./envoy/readiness.ts";
import type { RefusedResource } from "./envoy/refused-resources.ts";
import { createTakeIn, type TakeIn } from "./envoy/take-in.ts";
import { type AgentFolder, openAgentFolder } from "./files/agent-folder.ts";
import { createFileMaker, type EnvoyFiles, entriesOf } from "./files/envoy-files.ts";
import type { Holding, WholeHoldings } from "./held/holding.ts";
import type { Source } from "./held/source.ts";
import { createWake } from "./wake.ts";

export interface AgentOptions extends EnvoyOptions {
  readonly source: Source;
  /** A gateway rather than a sidecar. */
  readonly isGateway: boolean;
  /** Whether the workload's certificate lies in files of the agent. */
  readonly hasCertificateFiles: boolean;
  readonly drainMs: number;
  /** Whether to wait at the end until no connection is left. */
  readonly untilIdle: boolean;
  /** So many ends of Envoy in a row end the agent; undefined: none do. */
  readonly maxRestarts: number | undefined;
  /** Takes the names for DNS, where they are followed. */
  readonly onNames?: ((names: Holding) => void) | undefined;
  /** Tells one line to people. */
  readonly say: (line: string) => void;
}

/** What is so now. */
export interface AgentStatus {
  /** Of Envoy; absent while none runs. */
  readonly pid?: number;
  /** Why nothing new can be learnt; absent while something can. */
  readonly trouble?: string;
  readonly refused: readonly Pick<RefusedResource, "type" | "name" | "words">[];
  /** How often Envoy was led to something new, and was started. */
  readonly changes: number;
  readonly starts: number;
}

export interface Agent {
  /** Works until it is stopped. @returns the exit code @throws PortolanError when no Envoy can be started at all */
  run(): Promise<number>;
  /** Drains and ends Envoy, then the agent; called a second time, at once. */
  stop(): void;
  status(): AgentStatus;
  /** Why Envoy takes no traffic; undefined when it does. */
  missing(): Promise<string | undefined>;
  /** Envoy's metrics in Prometheus' format, as they come; undefined when it does not answer. */
  envoyMetrics(): Promise<AsyncIterable<Uint8Array> | undefined>;
}

/** How often Envoy's log is looked at when nothing else happens. */
const logMs = 2_000;

/** Until files are tried again that could not be written, or that Envoy did not answer for. */
const retryMs = 5_000;

/** So many Envoys may end over one set of files, which is then left alone. */
const maxVictims = 2;

/** Keeps an Envoy running on the files that a source tells of. */
export function createAgent(options: AgentOptions): Agent {
  const { source, folder: root, say } = options;
  const wake = createWake();
  const hurry = new AbortController();
  const readiness = createReadiness();
  let keeper: EnvoyKeeper | undefined;
  let wanted: EnvoyFiles | undefined;
  /** What Envoy was led to, and which Envoy. */
  let led: { readonly files: EnvoyFiles; readonly pid: number } | undefined;
  let refused: readonly RefusedResource[] = [];
  let victims: { readonly files: EnvoyFiles; readonly count: number } | undefined;
  /** What Envoy has not answered for in time. */
  let unheard: EnvoyFiles | undefined;
  let retryAtMs = 0;
  let trouble: string | undefined;
  let changes = 0;
  let isStopping = false;
  /** The Envoy that was seen live. */
  let livePid: number | undefined;

  /** Says what Envoy refuses of some files, to people when it is other than before, and to the source. */
  function tellRefused({ versions }: EnvoyFiles, now: readonly RefusedResource[]): void {
    for (const { type, name, words } of now.filter((one) => !refused.includes(one)))
      say(`Envoy refuses ${type} "${name}", and keeps what it has of it: ${oneLine(words)}`);
    for (const type of coreTypes) {
      const of = now.filter((one) => one.type === type);
      const words = of.map((one) => one.words).join("\n");
      const complaint = { version: versions[type], names: of.map(({ name }) => name), words };
      source.complain(type, of.length === 0 ? undefined : complaint);
    }
    refused = now;
  }

  function follow(folder: AgentFolder): void {
    const make = createFileMaker({ folder: root, hasCertificateFiles: options.hasCertificateFiles });
    let last: WholeHoldings | undefined;
    source.start({
      changed(holdings) {
        const { name_tables: names } = holdings;
        if (names !== undefined && names !== last?.name_tables) options.onNames?.(names);
        const isSame = last !== undefined && coreTypes.every((type) => holdings[type] === last?.[type]);
        last = holdings;
        if (isSame) return;
        wanted = make(holdings);
        retryAtMs = 0;
        wake.ring();
      },
      trouble(why) {
        const rest = isComplete(folder) ? "; Envoy keeps what it has" : "";
        if (why !== trouble) say(`nothing new can be learnt: ${oneLine(why)}${rest}`);
        trouble = why;
      },
      reached() {
        if (trouble !== undefined) say("what is new can be learnt again");
        trouble = undefined;
      },
    });
  }

  /** One turn: whatever is to be done now. @returns when to look again, on the clock of `performance.now` */
  async function turn({ current, mayStart, start, startsAtMs }: EnvoyKeeper, folder: AgentFolder, takeIn: TakeIn) {
    const envoy = current();
    const files = wanted;
    const isBarred = victims !== undefined && victims.files === files && victims.count >= maxVictims;
    if (envoy === undefined) {
      if (!mayStart()) return startsAtMs() ?? 0;
      if (files !== undefined && !isBarred) await takeIn.lead(files, undefined);
      if (!isComplete(folder)) return Number.POSITIVE_INFINITY;
      await start();
      return 0;
    }
    if (livePid !== envoy.pid) {
      const state = await (await envoy.admin())?.state();
      if (state === "LIVE") {
        livePid = envoy.pid;
        say(`Envoy, process ${envoy.pid}, is live`);
      } else if (files === undefined || state === undefined) return performance.now() + 50;
    }
    if (files === undefined || isBarred || (led?.files === files && led.pid === envoy.pid))
      return Number.POSITIVE_INFINITY;
    if (performance.now() < retryAtMs) return retryAtMs;
    const admin = await envoy.admin();
    if (admin === undefined) return performance.now() + 20;
    const { pid, isAdopted, log, isRunning } = envoy;
    const { refused: now, isKnown } = await takeIn.lead(files, { pid, isAdopted, admin, log, isRunning });
    tellRefused(files, now);
    if (!isKnown) {
      if (unheard !== files) say("Envoy has not said yet what it makes of what is new: it is asked again");
      unheard = files;
      retryAtMs = performance.now() + retryMs;
      return retryAtMs;
    }
    led = { files, pid: envoy.pid };
    changes += 1;
    return 0;
  }

  /** An Envoy that ends over something new is not given it again and again. */
  async function recover(cause: PortolanError, folder: AgentFolder): Promise<void> {
    say(oneLine(cause.message));
    const files = wanted;
    retryAtMs = performance.now() + retryMs;
    if (files === undefined || keeper?.current() !== undefined) return;
    victims = { files, count: victims?.files === files ? victims.count + 1 : 1 };
    await folder.restore();
    if (victims.count >= maxVictims) say("Envoy ends over what is new: it is left out until something else comes");
  }

  async function work(kept: EnvoyKeeper): Promise<number> {
    const { folder, damaged } = await openAgentFolder(root, kept.current() !== undefined);
    for (const line of damaged) say(line);
    const [cds, lds] = [await folder.good("cds.json"), await folder.good("lds.json")];
    const takeIn = createTakeIn(folder, { cds: entriesOf(cds?.resources), lds: entriesOf(lds?.resources) });
    follow(folder);
    while (!isStopping) {
      const code = kept.gaveUp();
      if (code !== undefined) return code;
      let nextMs: number;
      try {
        nextMs = await turn(kept, folder, takeIn);
      } catch (cause) {
        if (!(cause instanceof PortolanError)) throw cause;
        // Without an Envoy, and none that could be started: there is nothing that goes on.
        if (kept.starts() === 0 && kept.current() === undefined && isComplete(folder)) throw cause;
        await recover(cause, folder);
        nextMs = retryAtMs;
      }
      await wake.wait(Math.min(nextMs - performance.now(), 60_000));
    }
    return 0;
  }

  return {
    async run() {
      keeper = await createEnvoyKeeper({ ...options, onChange: wake.ring });
      const kept = keeper;
      const timer = setInterval(() => kept.current()?.log.read(), logMs);
      try {
        return await work(kept);
      } finally {
        isStopping = true;
        kept.release();
        source.close();
        const envoy = kept.current();
        if (envoy !== undefined) await drainAndEnd(envoy, { ...options, hurry: hurry.signal });
        clearInterval(timer);
        // Listeners of what was raced against are let go.
        await sleep(0);
      }
    },
    stop() {
      if (isStopping) hurry.abort();
      isStopping = true;
      wake.ring();
    },
    status() {
      const envoy = keeper?.current();
      return {
        ...(envoy === undefined ? {} : { pid: envoy.pid }),
        ...(trouble === undefined ? {} : { trouble }),
        refused: refused.map(({ type, name, words }) => ({ type, name, words })),
        changes,
        starts: keeper?.starts() ?? 0,
      };
    },
    async missing() {
      if (isStopping) return "the agent is ending";
      const envoy = keeper?.current();
      return readiness.missing(envoy && { pid: envoy.pid, admin: await envoy.admin() });
    },
    envoyMetrics: async () => (await keeper?.current()?.admin())?.pieces("/stats/prometheus"),
  };
}

const isComplete = ({ versionOf }: AgentFolder): boolean =>
  versionOf("cds.json") !== undefined && versionOf("lds.json") !== undefined;
