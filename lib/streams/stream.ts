import { Code, ConnectError } from "@connectrpc/connect";
import type { NodeClaims } from "../base/classifier.ts";
import type { Budget } from "../limits/budget.ts";
import type { Limits } from "../limits/limits.ts";
import { wireVersion } from "../snapshot/parts-version.ts";
import type { LoadedTree } from "../snapshot/reader/loaded.ts";
import { type ResourceType, resourceTypes } from "../snapshot/resource-type.ts";
import { type Answer, type Due, type Dues, dueOf, nextAnswer, type Sources, type StreamKind, sharing } from "./due.ts";
import { noNames, valueOf } from "./name-map.ts";
import { askedSecrets, type SecretDue, type SecretWatch, sentSecrets } from "./secret-watch.ts";
import type { ServedType } from "./served-type.ts";
import { type Asked, owing, type SentAnswer, sent, upToDate, type Watch } from "./watch.ts";

/** A request, once it is read. */
export interface StreamRequest {
  /** What it says of its node: asked of the first request of a stream only. @throws ConnectError when it says nothing, or too much */
  claims(): NodeClaims;
  /** undefined for a type that is not served: nothing is ever said of it. */
  readonly type: ServedType | undefined;
  asked(before: Watch | undefined): Asked;
}

/** One answer to be written, and what belongs to it. */
export interface StreamAnswer extends Answer {
  readonly kind: StreamKind;
  readonly tree: LoadedTree;
  /** What its reader wants of the type. */
  readonly names: Watch["names"];
  readonly version: string;
  readonly nonce: string;
}

/** The same of secrets, which nobody else is told. */
export interface SecretsAnswer extends Pick<SecretDue, "changed" | "version"> {
  readonly kind: StreamKind;
  readonly removed: readonly string[];
  readonly nonce: string;
}

/** What is known of a stream's reader. */
export interface Reader {
  readonly claims: NodeClaims;
  readonly watches: ReadonlyMap<ResourceType, Watch>;
  readonly secrets: SecretWatch | undefined;
}

/** What is in force for a stream's node. */
export interface InForce {
  readonly root: string;
  readonly classId: string;
  /** Of the types that the reader watches. */
  readonly trees: ReadonlyMap<ResourceType, LoadedTree>;
  /** What is to be told of secrets; undefined where nothing was looked up. */
  dueSecrets(watch: SecretWatch): Promise<SecretDue | undefined>;
}

/** What a stream's server has for it at a moment. */
export interface Now {
  /** Names the moment: another one is waited for by it. */
  readonly state: string;
  /** undefined: the reader keeps what it has. */
  readonly force: InForce | undefined;
}

/** One node's type, as its stream speaks of it. */
export interface Who {
  readonly claims: NodeClaims;
  readonly type: ServedType;
}

/** The server that one stream belongs to: it says what is in force, and hears what the reader makes of it. */
export interface StreamHost {
  readonly limits: Pick<Limits, "streamMs" | "streamBytes" | "refusalMs" | "requestMs">;
  /** How long what was said of secrets counts as the newest, in milliseconds. */
  readonly secretsMs: number;
  readonly sources: Sources;
  /** What all streams together may remember of their readers. */
  readonly budget: Budget;
  isClosed(): boolean;
  /** @throws ConnectError for a node that has no place, or before there is anything */
  now(reader: Reader): Promise<Now>;
  /** Waits for another state than this one, at most for so long, or until the signal fires. */
  waitForChange(state: string, timeoutMs: number, signal: AbortSignal): Promise<unknown>;
  /** The reader has accepted all that it was sent of a type, up to this tree. */
  has(who: Who, tree: LoadedTree): void;
  /** The reader has accepted an answer, be there others that it owes a word about. */
  accepted(who: Who, answer: SentAnswer): void;
  /** The reader has everything that is in force, or owes a word about it; called each time that nothing is to be sent. */
  settled(reader: Reader): void;
  refused(who: Who, refusal: NonNullable<Asked["refusal"]>): void;
  /** Nothing is refused any more, or the stream is over. */
  mended(who: Who): void;
  /** A stream has begun, or ended. */
  counted(difference: 1 | -1): void;
  /** An answer is about to be sent. */
  sending(type: ServedType): void;
}

export interface StreamOptions<M> {
  readonly kind: StreamKind;
  readonly signal: AbortSignal;
  /** Makes room for a message and then the message. `leave` gives the room back. */
  write(answer: StreamAnswer): Promise<{ readonly message: M; leave(): void }>;
  writeSecrets(answer: SecretsAnswer): M;
}

/**
 * One stream: takes requests as they come, and gives one message whenever its reader takes one. What changes meanwhile is not
 * queued: the next message is worked out from what is in force and wanted when it can be written.
 *
 * @throws ConnectError for a request that is not right, a node that has no place, and when the server closes
 */
export async function* discoveryStream<M>(
  host: StreamHost,
  requests: AsyncIterable<StreamRequest>,
  { kind, signal, write, writeSecrets }: StreamOptions<M>,
): AsyncGenerator<M> {
  let reader: Reader | undefined;
  let costBytes = 0;
  const costs: Costs = new WeakMap();
  /** Whether no request is taken any more: there are none, or the stream has ended. */
  let isOver = false;
  let failure: unknown;
  let nonces = 0;
  let wake = () => {};
  /**
   * Resolves when the answer that is being worked out is on its way. Requests wait for that: else each of many small ones would have
   * all that is owed worked out once more.
   */
  let answering: Promise<void> | undefined;
  let answered = () => {};
  const { limits, budget, sources } = host;
  const endMs = performance.now() + limits.streamMs;

  function beginAnswer(): void {
    answering ??= new Promise((resolve) => {
      answered = () => {
        answering = undefined;
        resolve();
      };
    });
  }

  function pay(next: Reader): void {
    const bytes = costOf(next, costs);
    if (bytes > limits.streamBytes)
      throw new ConnectError(`more than ${limits.streamBytes} bytes are subscribed to`, Code.ResourceExhausted);
    if (!budget.take(Math.max(bytes - costBytes, 0)))
      throw new ConnectError("too much is subscribed to on all streams together", Code.ResourceExhausted);
    budget.give(Math.max(costBytes - bytes, 0));
    costBytes = bytes;
    reader = next;
  }

  /** What changed elsewhere is a version, too, that whoever wants nothing of it has; and whoever is silent is still there. */
  function haveAll({ claims, watches }: Reader): void {
    for (const [type, { has, open, refused }] of watches)
      if (has !== undefined && open.length === 0 && refused.size === 0) host.has({ claims, type }, has);
  }

  function take({ claims, type, asked }: StreamRequest): void {
    const known = reader ?? { claims: claims(), watches: new Map(), secrets: undefined };
    if (type === undefined) {
      pay(known);
      return;
    }
    const before = type === "secrets" ? known.secrets?.watch : known.watches.get(type);
    const result = asked(before);
    const { watch, refusal, isMended } = result;
    if (type === "secrets") pay({ ...known, secrets: askedSecrets(known.secrets, result) });
    else pay({ ...known, watches: new Map([...known.watches, [type, watch]]) });
    const who = { claims: known.claims, type };
    const { has, open, refused } = watch;
    // While it owes a word about an answer, or has refused one, it has what it had.
    if (has !== undefined && open.length === 0 && refused.size === 0) host.has(who, has);
    for (const answer of before?.open ?? [])
      if (answer !== refusal?.answer && !open.includes(answer)) host.accepted(who, answer);
    if (refusal !== undefined) host.refused(who, refusal);
    if (isMended === true) host.mended(who);
  }

  async function takeAll(): Promise<void> {
    try {
      for await (const request of requests) {
        while (answering !== undefined) await answering;
        if (isOver) return;
        take(request);
        wake();
      }
    } catch (cause) {
      failure = cause;
    }
    isOver = true;
    wake();
  }

  /** Waits for a request or the end; of a stream whose node is known for HEAD too, which says nothing of secrets. */
  async function something(state: string | undefined): Promise<void> {
    // The end may have come while an answer was worked out, and woke nobody.
    if (isOver || signal.aborted) return answered();
    const woken = new AbortController();
    wake = () => woken.abort();
    signal.addEventListener("abort", wake);
    answered();
    const leftMs = Math.max(endMs - performance.now(), 1);
    const knownMs = Math.min(leftMs, limits.refusalMs / 2);
    const lookMs = reader?.secrets === undefined ? knownMs : Math.min(knownMs, host.secretsMs);
    if (state !== undefined) await host.waitForChange(state, lookMs, woken.signal);
    else await firedWithin(woken.signal, Math.min(leftMs, limits.requestMs));
    signal.removeEventListener("abort", wake);
    wake = () => {};
  }

  host.counted(1);
  takeAll();
  try {
    for (let isFirst = true; ; isFirst = false) {
      beginAnswer();
      if (failure !== undefined) throw failure;
      if (isOver || signal.aborted || performance.now() >= endMs) return;
      if (host.isClosed()) throw new ConnectError("this server ends; connect again", Code.Unavailable);
      const known = reader;
      if (known === undefined) {
        if (!isFirst) throw new ConnectError("nothing was asked", Code.DeadlineExceeded);
        await something(undefined);
        continue;
      }
      const { state, force } = await host.now(known);
      const secret = known.secrets && (await force?.dueSecrets(known.secrets));
      if (force !== undefined && secret?.isAnswer === true) {
        nonces += 1;
        const { changed, missing, version } = secret;
        const nonce = String(nonces);
        const names = [...changed.map(({ name }) => name), ...missing];
        const note = { nonce, names, kept: undefined, version, classId: force.classId, root: force.root };
        pay({ ...known, secrets: sentSecrets(secret, note) });
        host.sending("secrets");
        answered();
        yield writeSecrets({ kind, changed, removed: missing, version, nonce });
        continue;
      }
      const looked = secret === undefined ? known : { ...known, secrets: secret.after };
      if (looked !== known) pay(looked);
      const dues = force === undefined ? [] : await duesOf(sources, known, force);
      const answer = nextAnswer(kind, dues);
      if (host.isClosed()) continue;
      if (force === undefined || answer === undefined) {
        if (force !== undefined) {
          const next = settled(looked, force);
          pay(next);
          haveAll(next);
          host.settled(next);
        }
        await something(state);
        continue;
      }
      const watch = known.watches.get(answer.type);
      const tree = force.trees.get(answer.type);
      if (watch === undefined || tree === undefined) continue;
      const nonce = String(nonces + 1);
      const version = wireVersion(tree.version);
      const written = await write({ ...answer, kind, tree, names: watch.names, version, nonce });
      try {
        nonces += 1;
        pay(afterAnswer(looked, answer, tree, noteOf(answer, watch, { nonce, version, ...force })));
        host.sending(answer.type);
        answered();
        yield written.message;
      } finally {
        written.leave();
      }
    }
  } finally {
    isOver = true;
    answered();
    budget.give(costBytes);
    for (const [type, { refused }] of reader === undefined ? [] : watchesOf(reader))
      if (refused.size > 0 && reader !== undefined) host.mended({ claims: reader.claims, type });
    host.counted(-1);
  }
}

const watchesOf = ({ watches, secrets }: Reader): readonly (readonly [ServedType, Watch])[] => [
  ...watches,
  ...(secrets === undefined ? [] : [["secrets", secrets.watch] as const]),
];

function firedWithin(signal: AbortSignal, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

async function duesOf(sources: Sources, { watches }: Reader, { trees }: InForce): Promise<Dues> {
  const dues: [ResourceType, Due][] = [];
  for (const type of resourceTypes) {
    const [watch, tree] = [watches.get(type), trees.get(type)];
    if (watch === undefined || tree === undefined) continue;
    dues.push([type, await dueOf(sources, watch, tree)]);
  }
  return dues;
}

/** Nothing is due: everybody has what is in force, and nobody remembers what was before. */
function settled(reader: Reader, { trees }: InForce): Reader {
  const watches = new Map<ResourceType, Watch>();
  for (const [type, watch] of reader.watches) {
    const tree = trees.get(type);
    watches.set(type, tree === undefined ? watch : { ...upToDate(watch, tree), gone: noNames });
  }
  return { ...reader, watches };
}

/**
 * What is known of a reader once it has an answer. A cluster that changed waits for its endpoints, and a delta stream's Envoy does not
 * ask for them again.
 */
function afterAnswer(reader: Reader, answer: Answer, tree: LoadedTree, note: SentAnswer): Reader {
  const watches = new Map(reader.watches);
  const watch = watches.get(answer.type);
  if (watch !== undefined) watches.set(answer.type, sent(sharing(watch, answer), tree, note, answer.gone));
  const endpoints = watches.get("endpoints");
  if (answer.type === "clusters" && endpoints !== undefined && endpoints.names !== "all") {
    const { names } = endpoints;
    const again = answer.changed.map(({ name }) => name).filter((name) => valueOf(names, name) !== undefined);
    watches.set("endpoints", owing(endpoints, again));
  }
  return { ...reader, watches };
}

function noteOf(
  { changed, removed }: Answer,
  { has }: Watch,
  { nonce, version, classId, root }: Pick<SentAnswer, "nonce" | "version" | "classId" | "root">,
): SentAnswer {
  const names = [...changed.map(({ name }) => name), ...removed];
  return { nonce, names, kept: has && wireVersion(has.version), version, classId, root };
}

/** What was worked out before. */
type Costs = WeakMap<object, number>;

/** About what is remembered of a reader, in bytes. */
function costOf({ claims, watches, secrets }: Reader, costs: Costs): number {
  const known = <T extends object>(value: T, work: (value: T) => number): number => {
    const bytes = costs.get(value) ?? work(value);
    costs.set(value, bytes);
    return bytes;
  };
  let bytes = known(claims, (value) => 1_000 + 3 * JSON.stringify(value).length);
  for (const { names, owed, refused, gone, open } of [...watches.values(), ...(secrets ? [secrets.watch] : [])]) {
    if (names !== "all") bytes += 32 * names.size + names.characters;
    if (owed.kind === "names") bytes += 64 * owed.names.size;
    if (owed.kind === "all") bytes += known(owed.known, costOfVersions);
    bytes += 16 * refused.size + 2 * refused.characters + 32 * gone.size;
    // Their texts are the snapshot's.
    for (const answer of open) bytes += 200 + 8 * answer.names.length;
  }
  if (secrets !== undefined) bytes += 100 * (secrets.has.size + secrets.lacks.size) + 64 * secrets.asked.size;
  return bytes;
}

function costOfVersions(versions: ReadonlyMap<string, string>): number {
  let bytes = 0;
  for (const [name, version] of versions) bytes += 100 + 2 * (name.length + version.length);
  return bytes;
}
