import { Code, ConnectError, type ConnectRouterOptions, createConnectRouter } from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../../gen/grpc/health/v1/health_pb.ts";
import type { Front } from "../front.ts";
import { stateOf } from "../heads/head-state.ts";
import { readOptions } from "./calls.ts";

/**
 * gRPC's own health protocol, for probes and load balancers. Like `/readyz` it is open to everybody, and says nothing of the mesh: a
 * front is serving while it can answer polls and streams.
 *
 * @param services full names of those that are served; "" stands for all
 * @see https://github.com/grpc/grpc/blob/master/doc/health-checking.md
 */
export function healthHandlers(
  front: Pick<Front, "heads" | "limits" | "readiness">,
  services: ReadonlySet<string>,
  options: Pick<ConnectRouterOptions, "acceptCompression">,
): { readonly check: UniversalHandler; readonly watch: UniversalHandler } {
  const router = createConnectRouter({
    ...options,
    connect: false,
    grpcWeb: false,
    readMaxBytes: 2 * front.limits.nameBytes,
    binaryOptions: readOptions,
  });
  const isKnown = (service: string) => service === "" || services.has(service);
  router.rpc(Health.method.check, async ({ service }) => {
    if (!isKnown(service)) throw new ConnectError("there is no such service here", Code.NotFound);
    return { status: (await healthNow(front)).status };
  });
  router.rpc(Health.method.watch, async function* ({ service }, { signal }) {
    const endMs = performance.now() + front.limits.streamMs;
    if (!isKnown(service)) yield { status: Status.SERVICE_UNKNOWN };
    let said: Status | undefined;
    while (!signal.aborted && performance.now() < endMs) {
      const { status, state } = await healthNow(front);
      if (isKnown(service) && status !== said) yield { status };
      said = status;
      if (front.heads.isClosed()) return;
      // A snapshot that cannot be read becomes readable without a change of HEAD.
      const leftMs = Math.max(endMs - performance.now(), 1);
      await front.heads.waitForChange(state, status === Status.SERVING ? leftMs : Math.min(leftMs, lookMs), signal);
    }
  });
  const [check, watch] = router.handlers;
  if (check === undefined || watch === undefined) throw new Error("a router has a handler for what it was given");
  return { check, watch };
}

/** How often a watcher's front that is not ready is looked at. */
const lookMs = 5_000;

/** Whether polls can be answered, and what HEAD was like then. */
async function healthNow({
  heads,
  readiness,
}: Pick<Front, "heads" | "readiness">): Promise<{ readonly status: Status; readonly state: string }> {
  // Why a store cannot be read was said where it was read.
  const head = await heads.current().catch(() => undefined);
  const state = head === undefined ? "" : stateOf(head, heads.timeMs());
  const { isReady } = await readiness();
  return { status: isReady ? Status.SERVING : Status.NOT_SERVING, state };
}
