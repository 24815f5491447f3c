import { createContextValues } from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { admit } from "../auth/admit.ts";
import type { Front } from "../front.ts";
import { callerKey, credentialsOf } from "./calls.ts";

/** The same handler for nodes: before anything of a call is read, it is known who makes it. */
export function guarded(front: Pick<Front, "authentication">, handler: UniversalHandler): UniversalHandler {
  const handle: UniversalHandler = Object.assign(async (request: Parameters<UniversalHandler>[0]) => {
    const found = await admit(front.authentication, credentialsOf(request), "node");
    if (found.kind === "refused") return { status: found.status };
    return handler({ ...request, contextValues: createContextValues().set(callerKey, found.caller) });
  }, handler);
  return handle;
}
