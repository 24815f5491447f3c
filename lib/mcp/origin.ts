import { ConnectError } from "@connectrpc/connect";
import { byCodePoint } from "../base/diagnostic.ts";
import { sameValue } from "../registry/changes/same.ts";
import type { Origin, OriginObject, OriginSink } from "../registry/origin/origin.ts";
import { type Bell, createBell, defaultPace, type Pace } from "../registry/origin/retry.ts";
import { applyPush, type CollectionState, type McpPush } from "./collection-state.ts";
import type { McpKind } from "./kinds.ts";
import type { McpStream, Refusal } from "./stream.ts";

export interface McpOriginOptions {
  readonly stream: McpStream;
  readonly protocol: "resources" | "xds";
  /** Where it answers: what it is told from others by. */
  readonly address: string;
  readonly kinds: readonly McpKind[];
  /** How this sink calls itself. */
  readonly node: string;
  /** How long a source must have said nothing new before what it says on a new stream is believed; 3 s when absent. */
  readonly settleMs?: number;
  readonly pace?: Pace;
  /** A resource was left out. */
  readonly onWarning?: (text: string) => void;
}

/** Codes of gRPC. */
const invalidArgument = 3;
const unimplemented = 12;

/** How often a source may say something new before it is believed although it is not quiet. */
const mostRounds = 20;

const usualSettleMs = 3000;
/** How long a source may be silent that owes answers. */
const patienceMs = 15_000;
const lookMs = 250;

/**
 * A source of configuration over MCP as an origin, one part for each kind.
 *
 * What a source says first on a stream may be old, and empty before it is right: it is believed when every subscription has
 * been answered and nothing new was said for a while. What is held stays when a stream breaks.
 *
 * @see docs/how-istio-does-it/config-stores.md#sources-over-mcp
 */
export function mcpOrigin(options: McpOriginOptions): Origin {
  return {
    about: { kind: "mcp" },
    parts: options.kinds.map(({ kind }) => kind),
    identity: () => `address ${options.address}`,
    follow: (sink, signal) => followMcp(options, sink, signal),
  };
}

/** What one origin knows over all of its streams. */
interface Memory {
  readonly held: Map<string, CollectionState>;
  /** Parts as they were told. */
  readonly told: Map<string, readonly OriginObject[]>;
}

async function followMcp(options: McpOriginOptions, sink: OriginSink, signal: AbortSignal): Promise<void> {
  const { stream, kinds, node, pace = defaultPace } = options;
  const memory: Memory = { held: new Map(), told: new Map() };
  let failures = 0;
  while (!signal.aborted) {
    const round = createRound(options, memory, sink);
    const ended = new AbortController();
    const telling = tellWhenQuiet(round, options, AbortSignal.any([signal, ended.signal]));
    const held = (subscription: string): CollectionState => memory.held.get(subscription) ?? new Map();
    let reason = "the source has ended the stream";
    try {
      await stream({ node, subscriptions: [...round.kindOf.keys()], held, onPush: round.take }, signal);
    } catch (cause) {
      reason = ConnectError.from(cause).message;
    }
    ended.abort();
    await telling;
    if (signal.aborted) return;
    failures = round.isSettled() ? 1 : failures + 1;
    for (const { kind } of kinds) sink.failed(kind, reason);
    await pace.pause(pace.backOff(failures), signal);
  }
}

/** One stream's time. */
interface Round {
  readonly kindOf: ReadonlyMap<string, McpKind>;
  readonly bell: Bell;
  take(push: McpPush): Refusal | undefined;
  /** Grows with everything new. */
  news(): number;
  unanswered(): readonly string[];
  /** Whether something that was told is empty now. */
  isEmptied(): boolean;
  isSettled(): boolean;
  /** Tells every part that differs from what was told, and of one that failed that it is followed again. */
  tell(): void;
  /** Tells which parts were not answered for. */
  fail(): void;
}

function createRound(options: McpOriginOptions, { held, told }: Memory, sink: OriginSink): Round {
  const { kinds, protocol, onWarning = () => {} } = options;
  const subscriptionsOf = (kind: McpKind) => (protocol === "xds" ? kind.typeUrls : kind.collections);
  const kindOf = new Map(kinds.flatMap((kind) => subscriptionsOf(kind).map((name) => [name, kind] as const)));
  const answered = new Set<string>();
  /** Whose last push was refused. */
  const refused = new Set<string>();
  /** Kinds that were told to have failed. */
  const ailing = new Set(kinds.map(({ kind }) => kind));
  const bell = createBell();
  let news = 0;
  let isSettled = false;

  const objectsOf = (kind: McpKind): readonly OriginObject[] => {
    const byName = new Map(subscriptionsOf(kind).flatMap((name) => [...(held.get(name) ?? [])]));
    return [...byName.values()]
      .map(({ name, version, object }) => ({ key: `${kind.kind}/${name}`, version, object }))
      .sort((a, b) => byCodePoint(a.key, b.key));
  };
  return {
    kindOf,
    bell,
    take(push) {
      const kind = kindOf.get(push.subscription);
      if (kind === undefined) return { code: unimplemented, message: `${push.subscription} was not asked for` };
      const before = held.get(push.subscription) ?? new Map();
      const applied = applyPush(before, push, { kind, needsNamespace: protocol === "xds" });
      for (const warning of applied.warnings) onWarning(`left out: ${warning}`);
      if (applied.refused !== undefined) {
        refused.add(push.subscription);
        ailing.add(kind.kind);
        sink.failed(kind.kind, `the source's content of ${push.subscription} was refused: ${applied.refused}`);
        return { code: invalidArgument, message: applied.refused };
      }
      refused.delete(push.subscription);
      if (!answered.has(push.subscription) || !sameValue(before, applied.held)) news += 1;
      answered.add(push.subscription);
      held.set(push.subscription, applied.held);
      bell.ring();
      return undefined;
    },
    news: () => news,
    unanswered: () => [...kindOf.keys()].filter((name) => !answered.has(name)),
    isEmptied: () => kinds.some((kind) => (told.get(kind.kind)?.length ?? 0) > 0 && objectsOf(kind).length === 0),
    isSettled: () => isSettled,
    tell() {
      isSettled = true;
      for (const kind of kinds) {
        if (subscriptionsOf(kind).some((name) => refused.has(name))) continue;
        const objects = objectsOf(kind);
        const before = told.get(kind.kind);
        if (before === undefined || !sameValue(before, objects)) {
          // What is too much is told again with the next news.
          if (!sink.whole(kind.kind, objects)) continue;
        } else if (ailing.has(kind.kind)) sink.followed(kind.kind);
        ailing.delete(kind.kind);
        told.set(kind.kind, objects);
      }
    },
    fail() {
      for (const kind of kinds) {
        const open = subscriptionsOf(kind).filter((name) => !answered.has(name));
        if (open.length > 0) sink.failed(kind.kind, `the source has not answered for ${open.join(" and ")}`);
      }
    },
  };
}

/** Until the signal says stop. On a new stream, and where a part has become empty, quiet is waited for; otherwise not. */
async function tellWhenQuiet(
  round: Round,
  { pace = defaultPace, settleMs = usualSettleMs }: McpOriginOptions,
  signal: AbortSignal,
): Promise<void> {
  signal.addEventListener("abort", round.bell.ring);
  for (;;) {
    await round.bell.next();
    for (let rounds = 0; !signal.aborted && (!round.isSettled() || round.isEmptied()); rounds += 1) {
      const before = round.news();
      await pace.pause(settleMs, signal);
      if (round.news() === before || rounds === mostRounds) break;
    }
    if (signal.aborted) return;
    if (round.unanswered().length === 0) round.tell();
    else if (await staysSilent(round, pace, signal)) round.fail();
  }
}

/** Whether a source that owes answers says nothing for a long while. */
async function staysSilent(round: Round, pace: Pace, signal: AbortSignal): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += lookMs) {
    const before = round.news();
    await pace.pause(lookMs, signal);
    if (signal.aborted || round.news() !== before) return false;
  }
  return true;
}
