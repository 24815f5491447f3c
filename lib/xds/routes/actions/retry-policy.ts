import type { RetryPolicyJson } from "../../../../gen/envoy/config/route/v3/route_components_pb.ts";
import type { HTTPRetry } from "../../../config/kinds/virtual-service.ts";
import { packAny } from "../../core-messages.ts";

const previousHosts = {
  name: "envoy.retry_host_predicates.previous_hosts",
  typedConfig: packAny("envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate", {}),
};

const previousPriorities = {
  name: "envoy.retry_priorities.previous_priorities",
  typedConfig: packAny("envoy.extensions.retry.priority.previous_priorities.v3.PreviousPrioritiesConfig", {
    updateFrequency: 2,
  }),
};

const defaultRetryOn = "connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes";

/**
 * The outbound retry policy of a route.
 *
 * @param retries of the route, else of the mesh; undefined: neither says anything, and the built-in policy holds
 * @param hashed the destination is picked by a consistent hash, so a retry goes to the same host unless `retries` says otherwise
 * @returns undefined where retries are switched off
 * @see docs/how-istio-does-it/routes.md#retries
 */
export function retryPolicy(retries: HTTPRetry | undefined, hashed: boolean): RetryPolicyJson | undefined {
  return retries === undefined && !hashed ? builtIn : statedPolicy(retries, hashed);
}

function statedPolicy(retries: HTTPRetry | undefined, hashed: boolean): RetryPolicyJson | undefined {
  const attempts = retries === undefined ? 2 : (retries.attempts ?? 0);
  if (attempts <= 0) return undefined;
  const { retryOn, retriableStatusCodes } = conditions(retries?.retryOn);
  const avoidsPreviousHosts = retries?.retryIgnorePreviousHosts ?? !hashed;
  return {
    ...(retryOn === "" ? {} : { retryOn }),
    numRetries: attempts,
    hostSelectionRetryMaxAttempts: "5",
    ...(avoidsPreviousHosts ? { retryHostPredicate: [previousHosts] } : {}),
    ...(retriableStatusCodes.length === 0 ? {} : { retriableStatusCodes }),
    ...(retries?.perTryTimeout === undefined ? {} : { perTryTimeout: retries.perTryTimeout }),
    ...(retries?.retryRemoteLocalities === true ? { retryPriority: previousPriorities } : {}),
    ...(retries?.backoff === undefined ? {} : { retryBackOff: { baseInterval: retries.backoff } }),
  };
}

/** Retries that are safe for every method: the request did not reach the workload. */
const inboundRetryOn = "reset-before-request";

/**
 * The retry policy of an inbound route, which has one host to go to.
 *
 * @param retries the mesh's; undefined: the built-in policy holds
 * @returns undefined where retries are switched off
 */
export function inboundRetryPolicy(retries: HTTPRetry | undefined): RetryPolicyJson | undefined {
  if (retries === undefined) return { retryOn: inboundRetryOn, numRetries: 2 };
  const numRetries = retries.attempts ?? 0;
  if (numRetries <= 0) return undefined;
  const { retryOn, retriableStatusCodes } = conditions(retries.retryOn || inboundRetryOn);
  return {
    retryOn,
    numRetries,
    ...(retriableStatusCodes.length === 0 ? {} : { retriableStatusCodes }),
    ...(retries.backoff === undefined ? {} : { retryBackOff: { baseInterval: retries.backoff } }),
  };
}

/** Status codes leave the list of conditions; the condition that makes Envoy look at them takes their place at the end. */
function conditions(text: string | undefined): { retryOn: string; retriableStatusCodes: number[] } {
  if (text === undefined || text === "") return { retryOn: defaultRetryOn, retriableStatusCodes: [] };
  const words: string[] = [];
  const retriableStatusCodes: number[] = [];
  for (const part of text.split(",").map((word) => word.trim())) {
    if (part === "") continue;
    if (/^\d+$/.test(part) && isStatusCode(Number(part))) retriableStatusCodes.push(Number(part));
    else words.push(part);
  }
  const joined = words.join(",");
  const complete = retriableStatusCodes.length === 0 || joined.includes("retriable-status-codes");
  // Codes alone leave a comma in front: Istio writes it so, and Envoy skips the empty word.
  return { retryOn: complete ? joined : `${joined},retriable-status-codes`, retriableStatusCodes };
}

/** Most routes of most meshes have this one. */
const builtIn = statedPolicy(undefined, false);

const unassigned = new Set([306, 419, 420, 427, 430, 509]);
const assignedRanges = [
  [100, 103],
  [200, 208],
  [226, 226],
  [300, 308],
  [400, 418],
  [421, 429],
  [431, 431],
  [451, 451],
  [500, 511],
] as const;

/** Codes that Go's net/http has a text for; any other number stays a word. */
function isStatusCode(code: number): boolean {
  return !unassigned.has(code) && assignedRanges.some(([first, last]) => code >= first && code <= last);
}
