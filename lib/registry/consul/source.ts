import { PortolanError } from "../../config/diagnostic.ts";
import { createBell, defaultPace, type Pace } from "../retry.ts";
import { sameValue } from "../same.ts";
import type { Source, SourceEvent, SourceSnapshot } from "../source.ts";
import { type ConsulInstance, readCatalogService, readCatalogServices, readHealthService } from "./catalog.ts";

export interface ConsulClient {
  readonly fetch: typeof fetch;
  /** Without final slash. */
  readonly baseUrl: string;
  /** ACL token; absent: none is sent. */
  readonly token?: string;
  /** Absent: the agent's own datacentre. */
  readonly datacenter?: string;
}

export interface ConsulSourceOptions {
  /** `passing` leaves out instances with a check that does not pass; Istio never asked (`any`). */
  readonly health: "passing" | "any";
  readonly pace?: Pace;
  /** How long one blocking query may wait, as Consul writes durations; `5m` when absent. */
  readonly wait?: string;
}

interface Answer {
  readonly body: unknown;
  readonly index: number;
}

/** Milliseconds between two queries of one kind, however fast changes come. */
const shortestMs = 1000;

async function ask(
  client: ConsulClient,
  path: string,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const { datacenter, token } = client;
  const search = new URLSearchParams({ ...query, ...(datacenter === undefined ? {} : { dc: datacenter }) }).toString();
  const url = `${client.baseUrl}${path}${search === "" ? "" : `?${search}`}`;
  const response = await client.fetch(url, {
    ...(token === undefined ? {} : { headers: { "x-consul-token": token } }),
    ...(signal === undefined ? {} : { signal }),
  });
  if (!response.ok) {
    throw new PortolanError(`Consul answered ${path} with ${response.status}: ${(await response.text()).trim()}`);
  }
  // Without a leader an empty catalogue means that nobody knows, not that there is nothing.
  if (response.headers.get("x-consul-knownleader") === "false") throw new PortolanError("Consul has no leader");
  return { body: await response.json(), index: Number(response.headers.get("x-consul-index") ?? 0) };
}

async function instancesOf(
  client: ConsulClient,
  name: string,
  health: ConsulSourceOptions["health"],
  signal: AbortSignal | undefined,
): Promise<readonly ConsulInstance[]> {
  const at = encodeURIComponent(name);
  if (health === "any") return readCatalogService((await ask(client, `/v1/catalog/service/${at}`, {}, signal)).body);
  const { body } = await ask(client, `/v1/health/service/${at}`, {}, signal);
  return readHealthService(body).filter(({ passing }) => passing);
}

async function readAll(
  client: ConsulClient,
  health: ConsulSourceOptions["health"],
  signal: AbortSignal | undefined,
): Promise<SourceSnapshot<readonly ConsulInstance[]>> {
  try {
    const catalog = await ask(client, "/v1/catalog/services", {}, signal);
    const lists: (readonly ConsulInstance[])[] = [];
    // A service that went between the two calls is answered with no instances, and so is none.
    for (const name of readCatalogServices(catalog.body)) lists.push(await instancesOf(client, name, health, signal));
    return { content: lists.flat(), version: String(catalog.index) };
  } catch (cause) {
    if (cause instanceof PortolanError) throw cause;
    throw new PortolanError("the catalogue of Consul could not be read", [], cause);
  }
}

/**
 * Blocks on one query over and over, and calls back when its answer is another than before. An index that goes back
 * is not followed: the next query starts from nothing and is answered at once.
 */
async function follow(
  client: ConsulClient,
  path: string,
  options: ConsulSourceOptions,
  signal: AbortSignal,
  told: { readonly changed: (body: unknown) => void; readonly failed: (reason: string) => void },
): Promise<void> {
  const pace = options.pace ?? defaultPace;
  let index = 0;
  let failures = 0;
  let last: unknown;
  while (!signal.aborted) {
    try {
      const query = index > 0 ? { index: String(index), wait: options.wait ?? "5m" } : {};
      const answer = await ask(client, path, query, signal);
      const recovered = failures > 0;
      failures = 0;
      index = answer.index < index ? 0 : answer.index;
      if (recovered || !sameValue(last, answer.body)) told.changed(answer.body);
      last = answer.body;
      await pace.pause(shortestMs, signal);
    } catch (cause) {
      if (signal.aborted) return;
      failures += 1;
      told.failed(cause instanceof Error ? cause.message : String(cause));
      await pace.pause(pace.backOff(failures), signal);
    }
  }
}

/** One blocking query per service, for the services that there are. */
function followHealth(client: ConsulClient, options: ConsulSourceOptions, signal: AbortSignal, changed: () => void) {
  const running = new Map<string, AbortController>();
  const ignore = (): void => {};
  return (names: readonly string[]): void => {
    for (const [name, controller] of running) {
      if (names.includes(name)) continue;
      controller.abort();
      running.delete(name);
    }
    for (const name of names) {
      if (running.has(name)) continue;
      const controller = new AbortController();
      running.set(name, controller);
      const path = `/v1/health/service/${encodeURIComponent(name)}`;
      // A failure here is one of the catalogue's query as well, which tells it.
      void follow(client, path, options, AbortSignal.any([signal, controller.signal]), { changed, failed: ignore });
    }
  };
}

async function* watchAll(
  client: ConsulClient,
  options: ConsulSourceOptions,
  signal: AbortSignal,
): AsyncGenerator<SourceEvent<readonly ConsulInstance[]>> {
  const bell = createBell();
  const left = new AbortController();
  const until = AbortSignal.any([signal, left.signal]);
  until.addEventListener("abort", bell.ring);
  let failure = "";
  const watchHealth = followHealth(client, options, until, bell.ring);
  const following = follow(client, "/v1/catalog/services", options, until, {
    changed(body) {
      failure = "";
      if (options.health === "passing") watchHealth(readCatalogServices(body));
      bell.ring();
    },
    failed(reason) {
      failure = reason;
      bell.ring();
    },
  });
  let last: readonly ConsulInstance[] | undefined;
  try {
    for (;;) {
      await bell.next();
      if (until.aborted) return;
      const event =
        failure === ""
          ? await readAll(client, options.health, until).catch((cause: Error) => ({ failure: cause.message }))
          : { failure };
      if (until.aborted) return;
      if ("content" in event && sameValue(last, event.content)) continue;
      if ("content" in event) last = event.content;
      yield event;
    }
  } finally {
    left.abort();
    await following;
  }
}

/**
 * The instances of a Consul datacentre: of all services, Consul's own included.
 * @see docs/how-istio-does-it/consul.md#blocking-queries
 */
export function consulSource(client: ConsulClient, options: ConsulSourceOptions): Source<readonly ConsulInstance[]> {
  return {
    snapshot: (signal) => readAll(client, options.health, signal),
    watch: (signal) => watchAll(client, options, signal),
  };
}
