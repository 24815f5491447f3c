import type { Caller } from "./caller.ts";

/** What a request brings to prove who sent it. */
export interface Credentials {
  /** Reads one header; names are lower-case. */
  header(name: string): string | undefined;
  /** The certificate whose key the sender holds, as DER: of a connection that this server ends itself. */
  readonly certificate?: (() => Uint8Array | undefined) | undefined;
  /** Lambda's event, where the front is a Lambda function. */
  readonly platform?: unknown;
  /** Cloudflare's `request.cf`, where the front is a Worker. */
  readonly cf?: unknown;
}

export type Identified =
  | { readonly kind: "identified"; readonly caller: Caller }
  | { readonly kind: "refused"; readonly status: 401 | 503; readonly reason: string };

/** Tells who asks, for every transport. */
export interface Authentication {
  /** For the log at start. */
  readonly description: string;
  /** Whether the port with TLS asks clients for certificates. */
  readonly asksForCertificates?: boolean;
  /** At once where nothing has to be waited for: of what a front does for a poll, waiting is a good part. */
  identify(credentials: Credentials): Identified | Promise<Identified>;
}

/** One way of proving who one is. @returns undefined when the request does not try it */
export type Method = (credentials: Credentials) => Identified | Promise<Identified> | undefined;

/** Everybody is anyone: for loopback, and for networks that let in whom they should. */
export const noAuthentication: Authentication = {
  description: "off: every client that can connect is served",
  identify: () => anyone,
};

/** One object, so that what was found out for it is found again. */
const anyone: Identified = { kind: "identified", caller: { kind: "anyone" } };

/** Nobody is served: for a platform that is open to the world, until somebody has decided. */
export const undecidedAuthentication: Authentication = {
  description: "not configured: no request is served",
  identify: () => refused(503, "authentication is not configured: set it, or set it to off"),
};

/** The first method that a request tries decides; it is not asked again in another way. */
export function authenticateBy(
  description: string,
  methods: readonly Method[],
  asksForCertificates = false,
): Authentication {
  return {
    description,
    asksForCertificates,
    identify(credentials) {
      for (const method of methods) {
        const tried = method(credentials);
        if (tried !== undefined) return tried;
      }
      return refused(401, "the request proves no identity");
    },
  };
}

export const identified = (caller: Caller): Identified => ({ kind: "identified", caller });
export const refused = (status: 401 | 503, reason: string): Identified => ({ kind: "refused", status, reason });
