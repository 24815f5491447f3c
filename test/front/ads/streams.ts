import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { AggregatedDiscoveryService } from "../../../gen/envoy/service/discovery/v3/ads_pb.ts";
import { secretTypeUrl } from "../../../lib/secrets/tls-secret.ts";
import { type CompiledWorld, listIn } from "../../../lib/snapshot/compiled.ts";
import { resourceTypes, typeOfUrl, typeUrlOf } from "../../../lib/snapshot/resource-type.ts";
import type { ServedType } from "../../../lib/streams/served-type.ts";
import { nodeOf } from "../fixtures.ts";

/** An answer as tests compare it: `+a=1`, and `-b` for what is removed. */
export interface Got {
  readonly type: ServedType | undefined;
  readonly resources: readonly string[];
  readonly version: string;
  readonly nonce: string;
  /** Of a delta stream's resources, by name. */
  readonly versions: Readonly<Record<string, string>>;
}

export interface Ask {
  readonly type: ServedType;
  readonly names?: readonly string[];
  readonly version?: string;
  readonly unsubscribe?: readonly string[];
  readonly known?: Readonly<Record<string, string>>;
  readonly nonce?: string;
  readonly error?: string;
  readonly node?: object;
}

const urlOf = (type: ServedType): string => (type === "secrets" ? secretTypeUrl : typeUrlOf(type));
const typeIn = (url: string): ServedType | undefined => (url === secretTypeUrl ? "secrets" : typeOfUrl(url));

/** A stream by hand. */
export interface TestStream {
  ask(request: Ask): void;
  /** The next answer. @throws when there is none in time, or the stream has ended */
  next(): Promise<Got>;
  /** Whether nothing comes for a while. */
  isQuiet(): Promise<boolean>;
  /** How the stream ended; "" when it did so without an error. */
  end(): Promise<string>;
  close(): void;
}

const quietMs = 120;
const patienceMs = 10_000;

/** @param kind of the stream: `names` are all that are wanted, or those that are wanted besides */
export function openStream(
  url: string,
  kind: "sotw" | "delta",
  headers: Readonly<Record<string, string>> = {},
): TestStream {
  const client = createClient(AggregatedDiscoveryService, createGrpcTransport({ baseUrl: url }));
  const requests: Ask[] = [];
  const got: Got[] = [];
  let ended: string | undefined;
  let isFirst = true;
  let wake = () => {};
  let heard = () => {};
  const closing = new AbortController();

  async function* asked() {
    for (;;) {
      for (let next = requests.shift(); next !== undefined; next = requests.shift()) yield next;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      wake = () => {};
    }
  }
  const commonOf = ({ type, nonce = "", error, node }: Ask) => {
    const who = isFirst ? { node: node ?? nodeOf("web") } : {};
    isFirst = false;
    const detail = error === undefined ? {} : { errorDetail: { code: 13, message: error } };
    return { ...who, ...detail, typeUrl: urlOf(type), responseNonce: nonce };
  };
  async function* whole() {
    for await (const ask of asked())
      yield { ...commonOf(ask), resourceNames: [...(ask.names ?? [])], versionInfo: ask.version ?? "" };
  }
  async function* delta() {
    for await (const ask of asked())
      yield {
        ...commonOf(ask),
        resourceNamesSubscribe: [...(ask.names ?? [])],
        resourceNamesUnsubscribe: [...(ask.unsubscribe ?? [])],
        initialResourceVersions: { ...ask.known },
      };
  }
  const textOf = (value: Uint8Array | undefined) => `+${new TextDecoder().decode(value)}`;
  async function listen() {
    const options = { signal: closing.signal, headers };
    if (kind === "sotw") {
      for await (const answer of client.streamAggregatedResources(whole(), options)) {
        const { typeUrl, versionInfo: version, nonce } = answer;
        got.push({
          type: typeIn(typeUrl),
          resources: answer.resources.map(({ value }) => textOf(value)),
          version,
          nonce,
          versions: {},
        });
        heard();
      }
      return;
    }
    for await (const answer of client.deltaAggregatedResources(delta(), options)) {
      const { typeUrl, systemVersionInfo: version, nonce } = answer;
      const resources = [
        ...answer.resources.map(({ resource }) => textOf(resource?.value)),
        ...answer.removedResources.map((name) => `-${name}`),
      ];
      const versions = Object.fromEntries(answer.resources.map((one) => [one.name, one.version]));
      got.push({ type: typeIn(typeUrl), resources, version, nonce, versions });
      heard();
    }
  }
  listen()
    .then(
      () => {
        ended = "";
      },
      (cause: unknown) => {
        ended = String(cause);
      },
    )
    .finally(() => heard());

  async function until(done: () => boolean, ms: number): Promise<boolean> {
    const endMs = performance.now() + ms;
    while (!done()) {
      const leftMs = endMs - performance.now();
      if (leftMs <= 0) return false;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs);
        heard = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    return true;
  }
  return {
    ask(request) {
      requests.push(request);
      wake();
    },
    async next() {
      await until(() => got.length > 0 || ended !== undefined, patienceMs);
      const first = got.shift();
      if (first === undefined) throw new Error(ended === undefined ? "no answer" : `the stream ended: ${ended}`);
      return first;
    },
    isQuiet: async () => !(await until(() => got.length > 0 || ended !== undefined, quietMs)),
    async end() {
      await until(() => ended !== undefined, patienceMs);
      return ended ?? "it goes on";
    },
    close: () => closing.abort(),
  };
}

/** The same world with binary forms: `name=content`, as far as a stream is concerned. */
export function withBinary(world: CompiledWorld): CompiledWorld {
  const classes = world.classes.map((one) => {
    const stream = { ...one.stream };
    for (const type of resourceTypes) {
      stream[type] = listIn(one.stream, type).map((part) =>
        part.map((resource) => {
          const { content }: { readonly content: string } = JSON.parse(resource.text);
          return { ...resource, binary: new TextEncoder().encode(`${resource.name}=${content}`) };
        }),
      );
    }
    return { ...one, stream, poll: stream };
  });
  return { ...world, classes };
}
