import { frontApp } from "../front/app.ts";
import { noAuthentication } from "../front/auth/authentication.ts";
import { readAuthentication } from "../front/auth/settings.ts";
import { createFront as createWholeFront } from "../front/front.ts";
import type { Refusal } from "../front/nodes/refusals.ts";
import type { UnmatchedNode } from "../front/nodes/unmatched-nodes.ts";
import type { ObjectStore } from "../storage/object-store.ts";

export interface FrontOptions {
  readonly store: ObjectStore;
  /** Who may ask, as `PORTOLAN_AUTHENTICATION` says it (docs/security.md); absent, or `off`: whoever reaches `fetch`. */
  readonly authentication?: string;
  /** How old HEAD may be; one second by default. */
  readonly headTtlMs?: number;
  /** Longest time to hold a poll that has nothing new; 0, the default, never holds. */
  readonly maxHoldMs?: number;
  /** Told of a node that refuses an answer. */
  readonly onRefusal?: (refusal: Refusal) => void;
  /** Told once of each node that no class was compiled for. */
  readonly onStranger?: (stranger: UnmatchedNode) => void;
  /** Told of what went wrong and cost somebody an answer. */
  readonly onError?: (cause: unknown) => void;
}

/** The HTTP front: Envoy's polls over REST v3 and v1, delta fetches, health and status. */
export interface Front {
  /** Answers one request, as a Worker's `fetch` does. It needs no `this`. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Nobody has said who may ask. */
  readonly isOpen: boolean;
  /** Nobody has to prove who asks: nothing was said of it, or `off`. */
  readonly servesAnyone: boolean;
  /** Lets held polls go. */
  readonly close: () => void;
}

/**
 * A front on a store, from which it answers alone. It holds no compiler.
 *
 * @throws PortolanError for an authentication that cannot be read
 */
export function createFront({ authentication, ...options }: FrontOptions): Front {
  const asked = readAuthentication(authentication ?? "off", {
    name: "authentication",
    ...(options.onError === undefined ? {} : { onStaleKeys: options.onError }),
  });
  const front = createWholeFront({ ...options, authentication: asked });
  const app = frontApp(front);
  return {
    fetch: async (request) => app.fetch(request),
    isOpen: authentication === undefined,
    servesAnyone: asked === noAuthentication,
    close: () => front.close(),
  };
}
