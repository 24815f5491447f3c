import { error, type Finding, type Path } from "../../finding.ts";
import type { HTTPRetry } from "../../kinds/virtual-service.ts";
import { notNegative } from "../values.ts";
import { isHttpStatus } from "./http-status.ts";

const conditions: ReadonlySet<string> = new Set([
  "5xx",
  "gateway-error",
  "reset",
  "reset-before-request",
  "connect-failure",
  "retriable-4xx",
  "refused-stream",
  "retriable-status-codes",
  "retriable-headers",
  "envoy-ratelimited",
  "http3-post-connect-failure",
  "cancelled",
  "deadline-exceeded",
  "internal",
  "resource-exhausted",
  "unavailable",
]);

/** @see docs/how-istio-does-it/validation.md#retries */
export function* retryRules(retries: HTTPRetry | undefined, path: Path): Generator<Finding> {
  if (retries === undefined) return;
  const { attempts = 0 } = retries;
  yield* notNegative(attempts, [...path, "attempts"]);
  if (attempts === 0) {
    for (const name of ["perTryTimeout", "retryOn", "retryRemoteLocalities"] as const) {
      if (retries[name] === undefined) continue;
      yield error([...path, name], "has no meaning with 0 attempts", "", "conflicting-fields");
    }
  }
  for (const item of retries.retryOn?.split(",") ?? []) {
    if (conditions.has(item) || (/^\d+$/.test(item) && isHttpStatus(Number(item)))) continue;
    const hint = item === item.trim() ? "" : "leave out the blanks";
    yield error([...path, "retryOn"], `${JSON.stringify(item)} is neither a condition nor an HTTP status`, hint);
  }
}
