import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PortolanError } from "../base/diagnostic.ts";
import { mapTypes } from "../snapshot/resource-type.ts";
import type { StreamHost } from "../streams/stream.ts";
import { drainAndEnd } from "./envoy/drain.ts";
import { createEnvoyKeeper, type EnvoyKeeper, oneLine } from "./envoy/envoy-keeper.ts";
import type { EnvoyOptions } from "./envoy/envoy-process.ts";
import { createReadiness } from "./envoy/readiness.ts";
import { openTakenLog, type TakenTexts, takenName } from "./files/taken-log.ts";
import { createEnvoyStages, type EnvoyStages } from "./rollout/envoy-stages.ts";
import { type FollowedSource, followSource } from "./rollout/followed-source.ts";
import { createRefusalReport } from "./rollout/refusal-report.ts";
import { createTakenWriter } from "./rollout/taken-writer.ts";
import type { Holding } from "./source/resources.ts";
import type { Source } from "./source/source.ts";
import { createWaitSignal } from "./wait-signal.ts";
import { createEnvoyRollout, type EnvoyRollout } from "./xds/envoy-rollout.ts";
import { extensionSource } from "./xds/extension-polls.ts";
import type { LocalCalls } from "./xds/local-calls.ts";
import type { LocalState } from "./xds/local-host.ts";
import { createOfferMaker, type ResourceTexts } from "./xds/local-resources.ts";
import { serveLocal } from "./xds/local-server.ts";
import type { RefusedResource } from "./xds/refusal-search.ts";

export interface AgentOptions extends EnvoyOptions {
  readonly source: Source;
  /** What Envoy is told; the workload's certificate is in it already, where the agent has it. */
  readonly state: LocalState;
  /** Where Envoy asks for it. */
  readonly socket: string;
  /** What Envoy may ask of the agent's server besides, by way of the agent; absent where there is none. */
  readonly calls?: LocalCalls | undefined;
  /** A gateway rather than a sidecar. */
  readonly isGateway: boolean;
  /** Whether the agent has the workload's certificate; otherwise Envoy asks whoever the resource names. */
  readonly hasCertificates: boolean;
  readonly drainMs: number;
  /** Whether to wait at the end until no connection is open. */
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
  /** How many errors the socket that Envoy asks at has had. */
  socketErrors(): number;
  /** Why Envoy takes no traffic; undefined when it does. */
  missing(): Promise<string | undefined>;
  /** Envoy's metrics in Prometheus' format, as they come; undefined when it does not answer. */
  envoyMetrics(): Promise<AsyncIterable<Uint8Array> | undefined>;
}

/** How often Envoy's log is looked at when nothing else happens. */
const logMs = 2_000;

/** Until a start that failed is tried again. */
const retryMs = 5_000;

/** How soon an Envoy that is not live yet is looked at again. */
const liveMs = 50;

/** Keeps an Envoy running, and gives it over a socket what a source has. */
export function createAgent(options: AgentOptions): Agent {
  const { source, state, socket, folder, say } = options;
  const wake = createWaitSignal();
  const hurry = new AbortController();
  const readiness = createReadiness();
  const make = createOfferMaker({
    secrets: options.hasCertificates ? () => overStream : undefined,
    extensions: options.calls && extensionSource,
  });
  const refusals = createRefusalReport(source, say);
  let keeper: EnvoyKeeper | undefined;
  let steps: EnvoyStages | undefined;
  let followed: FollowedSource | undefined;
  let socketErrors = 0;
  let isStopping = false;
  /** The Envoy that was seen live. */
  let livePid: number | undefined;

  /** Starts an Envoy where none runs, and says when one is live. @returns when to look again */
  async function keepRunning(
    { current, mayStart, start, startsAtMs }: EnvoyKeeper,
    rollout: EnvoyRollout,
  ): Promise<number> {
    const envoy = current();
    if (envoy === undefined) {
      if (rollout.offered() === undefined) return Number.POSITIVE_INFINITY;
      if (!mayStart()) return startsAtMs() ?? 0;
      await start();
      return 0;
    }
    if (livePid === envoy.pid) return Number.POSITIVE_INFINITY;
    const live = await (await envoy.admin())?.state();
    if (live !== "LIVE") return performance.now() + liveMs;
    livePid = envoy.pid;
    say(`Envoy, process ${envoy.pid}, is live`);
    return 0;
  }

  interface Parts {
    readonly kept: EnvoyKeeper;
    readonly rollout: EnvoyRollout;
    readonly advancing: EnvoyStages;
    readonly write: () => Promise<number>;
  }

  /** Does what is to be done until the agent is stopped. @returns the exit code */
  async function work({ kept, rollout, advancing, write }: Parts): Promise<number> {
    advancing.offer();
    const onChange = () => {
      advancing.wantsOther();
      wake.ring();
    };
    followed = followSource(source, rollout, { make, onChange, onNames: options.onNames, say });
    while (!isStopping) {
      const code = kept.gaveUp();
      if (code !== undefined) return code;
      let nextMs: number;
      try {
        const advanceMs = await advancing.advance(kept.current());
        const writeMs = await write();
        refusals.report(rollout, followed.versions());
        nextMs = Math.min(advanceMs, writeMs, await keepRunning(kept, rollout));
      } catch (cause) {
        if (!(cause instanceof PortolanError)) throw cause;
        // Without an Envoy, and none that could be started: there is nothing that goes on.
        if (kept.starts() === 0 && kept.current() === undefined) throw cause;
        say(oneLine(cause.message));
        nextMs = performance.now() + retryMs;
      }
      await wake.wait(Math.min(nextMs - performance.now(), 60_000));
    }
    await write();
    return 0;
  }

  /** What Envoy says over its stream goes to `rollout`, and wakes the loop. */
  const hostOf = (rollout: EnvoyRollout, advancing: EnvoyStages): StreamHost =>
    state.host({
      connected: () => rollout.connect(),
      hasFromBefore(type, known) {
        if (type === "listeners") advancing.hasListeners();
        rollout.hasFromBefore(type, known);
        wake.ring();
      },
      accepted: rollout.accept,
      settled() {
        advancing.settled();
        wake.ring();
      },
      refused(refusal) {
        rollout.refuse(refusal);
        wake.ring();
      },
    });

  return {
    async run() {
      const { log, damaged } = await openTakenLog(join(folder, takenName));
      if (damaged > 0)
        say(`${damaged} lines of ${takenName} were not whole: what Envoy had taken before counts in their place`);
      const rollout = createEnvoyRollout(make(withTexts(log.texts)).offer);
      const advancing = createEnvoyStages(rollout, state, say);
      steps = advancing;
      const onSocketError = () => {
        socketErrors += 1;
      };
      const server = await serveLocal(socket, () => hostOf(rollout, advancing), onSocketError, options.calls);
      const timer = setInterval(() => keeper?.current()?.log.read(), logMs);
      try {
        const kept = await createEnvoyKeeper({ ...options, onChange: wake.ring, onEnd: advancing.envoyEnded });
        keeper = kept;
        return await work({ kept, rollout, advancing, write: createTakenWriter(log, rollout, say) });
      } finally {
        isStopping = true;
        keeper?.release();
        source.close();
        const envoy = keeper?.current();
        if (envoy !== undefined) await drainAndEnd(envoy, { ...options, hurry: hurry.signal });
        clearInterval(timer);
        state.close();
        await server.close();
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
      const trouble = followed?.trouble();
      return {
        ...(envoy === undefined ? {} : { pid: envoy.pid }),
        ...(trouble === undefined ? {} : { trouble }),
        refused: refusals.refused().map(({ type, name, words }) => ({ type, name, words })),
        changes: steps?.changes() ?? 0,
        starts: keeper?.starts() ?? 0,
      };
    },
    socketErrors: () => socketErrors,
    async missing() {
      if (isStopping) return "the agent is ending";
      const envoy = keeper?.current();
      return readiness.missing(envoy && { pid: envoy.pid, admin: await envoy.admin() });
    },
    envoyMetrics: async () => (await keeper?.current()?.admin())?.pieces("/stats/prometheus"),
  };
}

/** The source of a secret that comes by the stream that everything else comes by. */
const overStream = { ads: {}, resourceApiVersion: "V3" } as const;

const withTexts = (taken: TakenTexts): ResourceTexts =>
  mapTypes(taken, (texts) => new Map([...texts].map(([name, text]) => [name, { text }])));
