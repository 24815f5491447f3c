/** What istioctl asks a control plane over a stream of resources: `istio.io/debug…`. @see istio 1.31.0 pilot/pkg/xds/statusgen.go */
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { Code, ConnectError } from "@connectrpc/connect";
import type { StreamKind } from "../../streams/due.ts";
import type { Written } from "../../streams/grpc-framing.ts";
import { beginningOf, runOf } from "../../streams/messages.ts";
import { among } from "../ads/among.ts";
import type { Caller } from "../auth/caller.ts";
import { shown } from "../excess.ts";
import { type NodesFront, statesOf } from "../nodes/front-nodes.ts";
import type { NodeState } from "../nodes/node-state.ts";
import { configDump } from "./config-dump.ts";
import { clientConfig, clientConfigUrl, syncStatus } from "./sync-status.ts";
import { type VisibleServices, visibleNodes, visibleProxy } from "./visible-nodes.ts";

/** What istioctl's questions are answered from. */
export type DebugServices = NodesFront & VisibleServices;

const debugUrl = "istio.io/debug";

/** Questions of one stream about other proxies. */
export interface DebugAnswers {
  /**
   * Answers a request of such a type.
   *
   * @returns false for another type, which the stream itself is for
   * @throws ConnectError for what the caller may not read, and what is not there
   */
  asked(typeUrl: string, names: readonly string[]): Promise<boolean>;
  /** The stream's messages, and among them the answers. */
  among(messages: AsyncGenerator<Written>): AsyncGenerator<Written>;
}

/** How many may be worked out at a time, on all streams of a server. */
export interface DebugRoom {
  tryEnter(): (() => void) | undefined;
}

interface Found {
  readonly name: string;
  readonly typeUrl: string;
  readonly value: Uint8Array;
}

/** What istioctl compares answers of several servers by. @see istio 1.31.0 pilot/pkg/xds/xdsgen.go, IstioControlPlaneInstance */
const controlPlane = JSON.stringify({ Component: "portolan", ID: "portolan", Info: {} });

/** What may be asked of `istio.io/debug`, by name. */
const commands = ["syncz"];

/** istioctl looks for these words, and lists what there is. @see istio 1.31.0 istioctl/pkg/internaldebug/internal-debug.go */
const noSuchCommand = "404 page not found";

export function debugAnswers(front: DebugServices, kind: StreamKind, caller: Caller, room: DebugRoom): DebugAnswers {
  let pending: Written | undefined;
  let wake = () => {};
  let taken = () => {};
  let nonces = 0;
  let isOver = false;

  async function states(): Promise<readonly NodeState[]> {
    const nodes = await visibleNodes(front, caller, "");
    const head = await front.heads.current();
    if (caller.kind === "node" && nodes.length === 0)
      throw new ConnectError(
        `${caller.subject} may read of no proxy: grant it the scope operator under subjects (docs/security.md)`,
        Code.PermissionDenied,
      );
    return head === undefined ? [] : statesOf(front, head, nodes);
  }

  async function answer(typeUrl: string, names: readonly string[]): Promise<readonly Found[]> {
    const [name = "", ...others] = names;
    if (typeUrl === `${debugUrl}/syncz`)
      return (await states()).map((state) => ({
        name: state.name,
        typeUrl: clientConfigUrl,
        value: clientConfig(state),
      }));
    if (name === "" || others.length > 0)
      throw new ConnectError(`${shown(typeUrl)} is asked with exactly one name`, Code.InvalidArgument);
    if (typeUrl === `${debugUrl}/config_dump`) {
      const parts = await configDump(front, await visibleProxy(front, caller, name));
      return parts.map((part) => ({ name, ...part }));
    }
    if (typeUrl !== debugUrl)
      throw new ConnectError(`${shown(typeUrl)} is none of syncz and config_dump`, Code.Unimplemented);
    const text = (value: string) => [{ name, typeUrl: debugUrl, value: new TextEncoder().encode(value) }];
    if (name === "list") return text(JSON.stringify(commands));
    if (name === "syncz") return text(JSON.stringify((await states()).map(syncStatus)));
    return text(noSuchCommand);
  }

  async function due(): Promise<Written | undefined> {
    const next = pending;
    pending = undefined;
    if (next !== undefined) taken();
    return next;
  }

  function look(): { readonly due: Promise<"look">; end(): void } {
    const { promise, resolve } = Promise.withResolvers<"look">();
    wake = () => resolve("look");
    return { due: promise, end: () => {} };
  }

  return {
    async asked(typeUrl, names) {
      if (typeUrl !== debugUrl && !typeUrl.startsWith(`${debugUrl}/`)) return false;
      const leave = room.tryEnter();
      if (leave === undefined)
        throw new ConnectError("too many look around at this moment; ask again", Code.Unavailable);
      try {
        nonces += 1;
        const all = await answer(typeUrl, names);
        if (isOver) return true;
        const isTaken = new Promise<void>((resolve) => {
          taken = resolve;
        });
        pending = written(kind, typeUrl, `debug-${nonces}`, all);
        wake();
        await isTaken;
      } finally {
        leave();
      }
      return true;
    },
    async *among(messages) {
      try {
        yield* among(messages, { due, look });
      } finally {
        isOver = true;
        taken();
      }
    },
  };
}

/** Field numbers of `control_plane` in both kinds of answers, and of its identifier. */
const controlPlaneField = { whole: 6, delta: 8 };
const identifierField = 1;

function written(kind: StreamKind, typeUrl: string, nonce: string, all: readonly Found[]): Written {
  const version = nonce;
  const writer = new BinaryWriter();
  writer.tag(controlPlaneField[kind], WireType.LengthDelimited).fork();
  writer.tag(identifierField, WireType.LengthDelimited).string(controlPlane);
  writer.join();
  const resources = all.map(({ name, typeUrl: of, value }) => runOf(kind, of, [value], [{ name, version }]));
  return [beginningOf({ kind, typeUrl, version, nonce, removed: [] }), ...resources, writer.finish()];
}
