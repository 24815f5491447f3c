import { createContextValues } from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { refusalOf } from "../auth/guard.ts";
import type { Front } from "../front.ts";
import { callerKey, credentialsOf } from "./calls.ts";

/** The same handler for nodes: before anything of a call is read, it is known who makes it. */
export function guarded(front: Front, handler: UniversalHandler): UniversalHandler {
  const handle: UniversalHandler = Object.assign(async (request: Parameters<UniversalHandler>[0]) => {
    const found = await front.authentication.identify(credentialsOf(request));
    const refusal = refusalOf(found, "node");
    if (found.kind === "refused" || refusal !== undefined) return { status: refusal?.status ?? 401 };
    return handler({ ...request, contextValues: createContextValues().set(callerKey, found.caller) });
  }, handler);
  return handle;
}
