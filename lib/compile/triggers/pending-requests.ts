import type { Publishing } from "../../snapshot/publish.ts";
import type { Recompiled } from "../recompile/recompiled.ts";

/** What came of a compile, for one request. */
export type RequestResult = { readonly compiled: Recompiled } | { readonly cause: unknown };

/** A caller in this process that waits for a compile which begins after its request. */
export interface CompileRequest {
  readonly publishing: Publishing | undefined;
  /** Set once. */
  result?: RequestResult;
}

/** Requests of this process that have no result yet, oldest first. */
export interface PendingRequests {
  add(publishing: Publishing | undefined): CompileRequest;
  first(): CompileRequest | undefined;
  /** Those that the next job serves: the oldest, and all that a job can serve together. */
  batch(): readonly CompileRequest[];
  settle(requests: readonly CompileRequest[], result: RequestResult): void;
}

/** A canary is compiled by itself, in its turn. */
export const isCanary = ({ publishing }: CompileRequest): boolean => publishing?.share !== undefined;

export function createPendingRequests(): PendingRequests {
  let pending: readonly CompileRequest[] = [];
  return {
    add(publishing) {
      const request: CompileRequest = { publishing };
      pending = [...pending, request];
      return request;
    },
    first: () => pending[0],
    batch: () => pending.filter((request, i) => i === 0 || !isCanary(request)),
    settle(requests, result) {
      const settled = new Set(requests);
      pending = pending.filter((request) => !settled.has(request));
      for (const request of requests) request.result ??= result;
    },
  };
}
