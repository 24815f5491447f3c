import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PortolanError } from "../config/diagnostic.ts";
import { type CoreType, coreTypes, mapTypes } from "../snapshot/resource-type.ts";
import { drainAndEnd } from "./envoy/drain.ts";
import { createEnvoyKeeper, type EnvoyKeeper, oneLine } from "./envoy/envoy-keeper.ts";
import type { EnvoyOptions, EnvoyProcess } from "./envoy/envoy-process.ts";
import { createReadiness } from "./envoy/readiness.ts";
import { isWarm } from "./envoy/warmth.ts";
import { openTakenLog, type TakenLog, type TakenTexts, takenName } from "./files/taken-log.ts";
import type { Holding, WholeHoldings } from "./held/holding.ts";
import { acceptedBefore, type Source } from "./held/source.ts";
import { createWake } from "./wake.ts";
import { extensionSource } from "./xds/extension-polls.ts";
import { createLeading, type Leading, type RefusedResource } from "./xds/leading.ts";
import type { LocalCalls } from "./xds/local-calls.ts";
import type { LocalState } from "./xds/local-host.ts";
import { createOfferMaker, type ResourceTexts } from "./xds/local-resources.ts";
import { serveLocal } from "./xds/local-server.ts";
import type { LocalResources, Offer } from "./xds/offer.ts";

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
  /** How many errors the socket that Envoy asks at has had. */
  socketErrors(): number;
  /** Why Envoy takes no traffic; undefined when it does. */
  missing(): Promise<string | undefined>;
  /** Envoy's metrics in Prometheus' format, as they come; undefined when it does not answer. */
  envoyMetrics(): Promise<AsyncIterable<Uint8Array> | undefined>;
}

/** How often Envoy's log is looked at when nothing else happens. */
const logMs = 2_000;

/** Until something is tried again that did not come off: a write, a start, what an Envoy has ended over. */
const retryMs = 5_000;

/** How long Envoy's clusters and listeners may take to be ready before routes are led to them all the same. */
const warmMs = 5_000;
const lookMs = 20;

/** So many Envoys may end over one change, which is then left alone. */
const maxVictims = 2;

/** Keeps an Envoy running, and tells it over a socket what a source tells of. */
export function createAgent(options: AgentOptions): Agent {
  const { source, state, socket, folder, say } = options;
  const wake = createWake();
  const hurry = new AbortController();
  const readiness = createReadiness();
  const make = createOfferMaker({
    secrets: options.hasCertificates ? () => overStream : undefined,
    extensions: options.calls && extensionSource,
  });
  let keeper: EnvoyKeeper | undefined;
  let refused: readonly RefusedResource[] = [];
  let versions: Readonly<Record<CoreType, string>> | undefined;
  /** Ends of Envoys over what is wanted now, and when it is tried again. */
  let victims = 0;
  let heldBackUntilMs = 0;
  /** Whether the Envoy that runs has asked for listeners. */
  let hasListeners = false;
  let settledMs = 0;
  /** What lies on disk. */
  let written: Offer | undefined;
  let writeAtMs = 0;
  let writeTrouble = "";
  let isDone = false;
  let trouble: string | undefined;
  let changes = 0;
  let socketErrors = 0;
  let isStopping = false;
  /** The Envoy that was seen live. */
  let livePid: number | undefined;

  /** Says what Envoy refuses, to people when it is other than before, and to the source. */
  function tellRefused(leading: Leading): void {
    const now = leading.refused();
    if (now === refused && !leading.isDone()) return;
    for (const { type, name, words } of now.filter((one) => !refused.includes(one)))
      say(`Envoy refuses ${type} "${name}", and keeps what it has of it: ${oneLine(words)}`);
    for (const type of coreTypes) {
      const of = now.filter((one) => one.type === type);
      const words = of.map((one) => one.words).join("\n");
      const version = versions?.[type];
      const isSaid = of.length > 0 && version !== undefined;
      source.complain(type, isSaid ? { version, names: of.map(({ name }) => name), words } : undefined);
      if (of.length === 0 && version !== undefined && leading.isDone()) source.accepts(type, version);
    }
    refused = now;
  }

  function follow(leading: Leading): void {
    let last: WholeHoldings | undefined;
    const before = leading.taken();
    for (const type of coreTypes) source.accepts(type, before[type].size === 0 ? "" : acceptedBefore);
    source.start({
      changed(holdings) {
        const { name_tables: names } = holdings;
        if (names !== undefined && names !== last?.name_tables) options.onNames?.(names);
        const isSame = last !== undefined && coreTypes.every((type) => holdings[type] === last?.[type]);
        last = holdings;
        if (isSame) return;
        const { offer, unwritable } = make(mapTypes(holdings, ({ resources }) => resources));
        versions = mapTypes(holdings, ({ version }) => version);
        leading.want(offer, unwritable);
        victims = 0;
        heldBackUntilMs = 0;
        isDone = false;
        wake.ring();
      },
      trouble(why) {
        const rest = leading.offered() === undefined ? "" : "; Envoy keeps what it has";
        if (why !== trouble) say(`nothing new can be learnt: ${oneLine(why)}${rest}`);
        trouble = why;
      },
      reached() {
        if (trouble !== undefined) say("what is new can be learnt again");
        trouble = undefined;
      },
    });
  }

  /** Envoy has ended: what it ended over is not given to the next one at once, and to the one after that not at all. */
  function ended(leading: Leading): void {
    hasListeners = false;
    if (!leading.end()) return;
    victims += 1;
    heldBackUntilMs = performance.now() + retryMs;
    if (victims >= maxVictims) say("Envoy ends over what is new: it is left out until something else comes");
    else
      say(
        `Envoy ended while it took something new: it is started with what it had, and given it again in ${retryMs / 1_000} s`,
      );
    tell(leading);
  }

  function tell(leading: Leading): void {
    const offered = leading.offered();
    if (offered !== undefined) state.offer(offered);
  }

  /** Goes on to what is wanted as far as it goes now. @returns when to look again */
  async function lead(leading: Leading, envoy: EnvoyProcess | undefined): Promise<number> {
    const isBarred = victims >= maxVictims || performance.now() < heldBackUntilMs;
    const facts = { isBarred, isServing: envoy !== undefined && (envoy.isAdopted || hasListeners) };
    let hasMoved = leading.advance({ ...facts, isWarm: false });
    const isWaiting = !hasMoved && !isBarred && leading.isSettled() && !leading.isDone();
    if (isWaiting) {
      const isReady = performance.now() > settledMs + warmMs || (await isWarm(await envoy?.admin()));
      // What has happened meanwhile counts.
      hasMoved = leading.isSettled() && leading.advance({ ...facts, isWarm: isReady });
      if (!hasMoved && !isReady) return performance.now() + lookMs;
    }
    if (hasMoved) tell(leading);
    if (leading.isDone() && !isDone) {
      isDone = true;
      changes += 1;
    }
    return victims < maxVictims && isBarred ? heldBackUntilMs : Number.POSITIVE_INFINITY;
  }

  /** Writes down what Envoy has taken. @returns when to try again */
  async function keep(leading: Leading, log: TakenLog): Promise<number> {
    const taken = leading.taken();
    if (taken === written) return Number.POSITIVE_INFINITY;
    if (performance.now() < writeAtMs) return writeAtMs;
    try {
      await log.keep(textsOf(taken));
      written = taken;
      writeTrouble = "";
      return Number.POSITIVE_INFINITY;
    } catch (cause) {
      if (!(cause instanceof PortolanError)) throw cause;
      if (cause.message !== writeTrouble) say(oneLine(cause.message));
      writeTrouble = cause.message;
      writeAtMs = performance.now() + retryMs;
      return writeAtMs;
    }
  }

  /** Starts an Envoy where none runs, and says when one is live. @returns when to look again */
  async function keepRunning({ current, mayStart, start, startsAtMs }: EnvoyKeeper, leading: Leading): Promise<number> {
    const envoy = current();
    if (envoy === undefined) {
      if (leading.offered() === undefined) return Number.POSITIVE_INFINITY;
      if (!mayStart()) return startsAtMs() ?? 0;
      await start();
      return 0;
    }
    if (livePid === envoy.pid) return Number.POSITIVE_INFINITY;
    const live = await (await envoy.admin())?.state();
    if (live !== "LIVE") return performance.now() + 50;
    livePid = envoy.pid;
    say(`Envoy, process ${envoy.pid}, is live`);
    return 0;
  }

  async function work(kept: EnvoyKeeper, leading: Leading, log: TakenLog): Promise<number> {
    written = leading.taken();
    tell(leading);
    follow(leading);
    while (!isStopping) {
      const code = kept.gaveUp();
      if (code !== undefined) return code;
      let nextMs: number;
      try {
        const leadMs = await lead(leading, kept.current());
        const keepMs = await keep(leading, log);
        tellRefused(leading);
        nextMs = Math.min(leadMs, keepMs, await keepRunning(kept, leading));
      } catch (cause) {
        if (!(cause instanceof PortolanError)) throw cause;
        // Without an Envoy, and none that could be started: there is nothing that goes on.
        if (kept.starts() === 0 && kept.current() === undefined) throw cause;
        say(oneLine(cause.message));
        nextMs = performance.now() + retryMs;
      }
      await wake.wait(Math.min(nextMs - performance.now(), 60_000));
    }
    await keep(leading, log);
    return 0;
  }

  return {
    async run() {
      const { log, damaged } = await openTakenLog(join(folder, takenName));
      if (damaged > 0)
        say(`${damaged} lines of ${takenName} were not whole: what Envoy had taken before counts in their place`);
      const leading = createLeading(make(withTexts(log.texts)).offer);
      const hostOf = () =>
        state.host({
          connected: () => leading.connect(),
          knows(type, known) {
            if (type === "listeners") hasListeners = true;
            leading.knows(type, known);
            wake.ring();
          },
          accepted: leading.accept,
          settled() {
            if (!leading.isSettled()) settledMs = performance.now();
            leading.settle();
            wake.ring();
          },
          refused(refusal) {
            leading.refuse(refusal);
            wake.ring();
          },
        });
      const onSocketError = () => {
        socketErrors += 1;
      };
      const server = await serveLocal(socket, hostOf, onSocketError, options.calls);
      const timer = setInterval(() => keeper?.current()?.log.read(), logMs);
      try {
        keeper = await createEnvoyKeeper({ ...options, onChange: wake.ring, onEnd: () => ended(leading) });
        return await work(keeper, leading, log);
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
      return {
        ...(envoy === undefined ? {} : { pid: envoy.pid }),
        ...(trouble === undefined ? {} : { trouble }),
        refused: refused.map(({ type, name, words }) => ({ type, name, words })),
        changes,
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

const textsByResources = new WeakMap<LocalResources, ReadonlyMap<string, string>>();

/** The JSON of what an offer was made from. What stands in the place of something that does not exist has none. */
function textsOf(offer: Offer): TakenTexts {
  const of = (resources: LocalResources): ReadonlyMap<string, string> => {
    const found = textsByResources.get(resources);
    if (found !== undefined) return found;
    const texts = new Map<string, string>();
    for (const [name, { source }] of resources) if (source !== undefined) texts.set(name, source);
    textsByResources.set(resources, texts);
    return texts;
  };
  return mapTypes(offer, of);
}

const withTexts = (taken: TakenTexts): ResourceTexts =>
  mapTypes(taken, (texts) => new Map([...texts].map(([name, text]) => [name, { text }])));
