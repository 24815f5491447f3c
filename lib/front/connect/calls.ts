import {
  type DescMessage,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, createContextKey } from "@connectrpc/connect";
import type { UniversalServerRequest } from "@connectrpc/connect/protocol";
import { PortolanError } from "../../base/diagnostic.ts";
import type { ResourceType } from "../../snapshot/resource-type.ts";
import type { Credentials } from "../auth/authentication.ts";
import type { Caller } from "../auth/caller.ts";
import type { Front } from "../front.ts";
import { whyUnread } from "../why-unread.ts";
import type { Call } from "./answers.ts";
import type { SecretBinary } from "./delta-fetch.ts";

/** A method that can be called, whichever protocol the call comes by. */
export interface DiscoveryCall {
  /** `/<service>/<method>`. */
  readonly path: string;
  /**
   * What a call in JSON asks for; undefined for `DeltaFetch`, which every front answers in JSON (`polls/call-routes.ts`), and for
   * certificates.
   */
  readonly json: ResourceType | "secrets" | undefined;
  /** Most that a request may have, as read and as decompressed. */
  readonly maxBytes: number;
  /** Answers a message with a message. @throws ConnectError */
  answer(message: Uint8Array, call: Call): Promise<Uint8Array<ArrayBuffer>>;
  /** Adds the method to a router for gRPC and gRPC-Web, which has to bring `readOptions`, `maxBytes` and `capacityKey`. */
  addTo(router: ConnectRouter): void;
}

/** `Call.capacity` of a call that comes by a router. */
export const capacityKey = createContextKey<Call["capacity"]>(() => Promise.resolve());

/** `Call.caller` of a call that comes by a router; nobody before somebody has asked. */
export const callerKey = createContextKey<Caller | undefined>(undefined);

/** What a call and its connection bring to prove who sends it; nothing before a server has said so. */
export const credentialsKey = createContextKey<Credentials>({ header: () => undefined });

export const credentialsOf = ({ contextValues }: UniversalServerRequest): Credentials =>
  contextValues?.get(credentialsKey) ?? credentialsKey.defaultValue;

/** What Envoy's `FetchSecrets` is answered from. */
export type SecretCallServices = Pick<
  Front,
  "limits" | "nodes" | "onError" | "place" | "secrets" | "served" | "trustBundles"
>;

/** Secrets in binary, where the descriptors for that can be carried. */
export interface BinarySecrets {
  readonly write: SecretBinary;
  /** Envoy's `FetchSecrets`. */
  call(front: SecretCallServices): DiscoveryCall;
}

export type Rpc<O extends DescMessage> = DescMethodUnary<DescMessage, O>;

/** Nothing is kept of fields that are not read, and nothing recurses without end. */
export const readOptions = { readUnknownFields: false, recursionLimit: 100 };

/** A method as it can be called. @param input what is read of the request: a message with some of the fields of the method's own, under the same numbers */
export function callOf<I extends DescMessage, O extends DescMessage>(
  front: Pick<Front, "onError">,
  rpc: Rpc<O>,
  json: DiscoveryCall["json"],
  maxBytes: number,
  input: I,
  answer: (question: MessageShape<I>, call: Call) => Promise<MessageShape<O>>,
): DiscoveryCall {
  const guarded = (question: MessageShape<I>, call: Call) =>
    answer(question, call).catch((cause: unknown) => {
      throw toConnectError(front, cause);
    });
  return {
    path: `/${rpc.parent.typeName}/${rpc.name}`,
    json,
    maxBytes,
    async answer(message, call) {
      return toBinary(rpc.output, await guarded(read(input, message), call));
    },
    addTo(router) {
      // To the wire there is no difference between one message and a stream of one. To the implementation there is: what is
      // wrong with the message is thrown where it is read, instead of being called an error of ours.
      const method = { ...rpc, methodKind: "client_streaming", input } as const;
      router.rpc(
        method,
        async (questions: AsyncIterable<MessageShape<I>>, { signal, values }): Promise<MessageInitShape<O>> => {
          const caller = values.get(callerKey);
          if (caller === undefined) throw new ConnectError("the caller was not authenticated", Code.Unauthenticated);
          return guarded(await onlyOne(questions), { caller, signal, capacity: values.get(capacityKey) });
        },
      );
    },
  };
}

function read<I extends DescMessage>(input: I, message: Uint8Array): MessageShape<I> {
  try {
    return fromBinary(input, message, readOptions);
  } catch (cause) {
    throw new ConnectError(`the message cannot be read: ${String(cause)}`, Code.InvalidArgument);
  }
}

async function onlyOne<T>(messages: AsyncIterable<T>): Promise<T> {
  const read: T[] = [];
  try {
    for await (const message of messages) {
      read.push(message);
      if (read.length > 1) break;
    }
  } catch (cause) {
    const { code, rawMessage } = ConnectError.from(cause);
    throw new ConnectError(rawMessage, code === Code.Internal ? Code.InvalidArgument : code);
  }
  const [message] = read;
  if (message === undefined || read.length > 1) throw new ConnectError("send one message", Code.InvalidArgument);
  return message;
}

/** What a call says that failed; what is not its own fault is told to the log. */
export function toConnectError(front: Pick<Front, "onError">, cause: unknown): ConnectError {
  if (cause instanceof ConnectError) return cause;
  front.onError(cause);
  return cause instanceof PortolanError
    ? new ConnectError(whyUnread(cause), Code.Unavailable)
    : new ConnectError("an error of Portolan's own; its log has more", Code.Internal);
}
