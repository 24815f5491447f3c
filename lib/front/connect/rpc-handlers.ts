import { type ConnectRouterOptions, createConnectRouter, createContextValues } from "@connectrpc/connect";
import { createAsyncIterable, type UniversalHandler } from "@connectrpc/connect/protocol";
import { bytesOf, readChunks } from "../../limits/read-body.ts";
import { admit } from "../auth/admit.ts";
import { identified } from "../auth/authentication.ts";
import type { Front } from "../front.ts";
import { callerKey, capacityKey, credentialsOf, type DiscoveryCall, readOptions } from "./calls.ts";
import { type CapacityServices, capacityIn } from "./capacity.ts";
import { connectErrorOf } from "./connect-error.ts";

/** What lets calls in, and bounds them. */
export type RpcServices = CapacityServices & Pick<Front, "authentication">;

/** Length and flags of the one message of a call. */
const frameBytes = 5;

/** Handlers for gRPC and gRPC-Web that read requests within the limits, and keep the room of an answer until it is sent. */
export function rpcHandlers(
  front: RpcServices,
  calls: readonly DiscoveryCall[],
  options: Pick<ConnectRouterOptions, "acceptCompression" | "grpc">,
): readonly UniversalHandler[] {
  return calls.flatMap((call) => {
    // Given to the router and not with the method, which would take the protocols that are left out back in.
    const router = createConnectRouter({
      ...options,
      connect: false,
      readMaxBytes: call.maxBytes,
      binaryOptions: readOptions,
    });
    call.addTo(router);
    return router.handlers.map((handler) => limited(front, handler, call.maxBytes));
  });
}

function limited(front: RpcServices, handler: UniversalHandler, maxBytes: number): UniversalHandler {
  const handle: UniversalHandler = Object.assign(async (request: Parameters<UniversalHandler>[0]) => {
    // Before anything of the message is read, unless the front's core has let it in.
    const known = request.contextValues?.get(callerKey);
    const found =
      known === undefined ? await admit(front.authentication, credentialsOf(request), "node") : identified(known);
    // gRPC's own codes follow from HTTP's: 401 is unauthenticated, 403 permission denied.
    if (found.kind === "refused") return { status: found.status };
    const chunks = isChunks(request.body) ? request.body : undefined;
    const { capacity, asked, leave } = capacityIn(front, request.signal);
    const response = await handler({
      ...request,
      body: wholeBody(front, chunks, maxBytes + frameBytes, asked),
      contextValues: createContextValues().set(capacityKey, capacity).set(callerKey, found.caller),
    });
    return { ...response, body: untilEnd(response.body ?? createAsyncIterable([]), leave) };
  }, handler);
  return handle;
}

/** The body in one piece. An error in reading it is thrown where the library reads, which then answers with it. */
async function* wholeBody(
  front: Pick<Front, "bodies">,
  chunks: AsyncIterable<Uint8Array> | undefined,
  maxBytes: number,
  asked: (bytes: number) => void,
) {
  const read = await readChunks(chunks ?? null, Number.NaN, { maxBytes, pool: front.bodies });
  if (read.kind === "refused") throw connectErrorOf(read);
  const bytes = bytesOf(read);
  asked(bytes.length);
  yield bytes;
}

/** The same pieces; tells when they were taken to the end, or nobody wants any more. Not a generator, which tells only if it was begun. */
function untilEnd<T>(pieces: AsyncIterable<T>, end: () => void): AsyncIterable<T> {
  const iterator = pieces[Symbol.asyncIterator]();
  const over = async (): Promise<IteratorResult<T>> => {
    end();
    await iterator.return?.();
    return { done: true, value: undefined };
  };
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const result = await iterator.next();
        if (result.done === true) end();
        return result;
      },
      return: over,
      throw: over,
    }),
  };
}

function isChunks(body: unknown): body is AsyncIterable<Uint8Array> {
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}
