/** How a node requests one resource by polls. */
export interface RequestPauses {
  /** When it was last requested, or a held request for it last ended. */
  seenMs: number;
  /** Longest usual pause between two requests; undefined after the first. */
  pauseMs: number | undefined;
  /** Requests that are held at the moment. */
  open: number;
}

/** How long the pause of a node is taken to be that has sent one request, and of one that polls continuously. */
const firstPauseMs = 10_000;
export const leastPauseMs = 2_000;

export const firstRequest = (nowMs: number): RequestPauses => ({ seenMs: nowMs, pauseMs: undefined, open: 0 });

/** Records one more request. A single long pause does not change much: the node may have been disconnected. */
export function recordRequest(pauses: RequestPauses, nowMs: number): void {
  const gapMs = nowMs - pauses.seenMs;
  pauses.seenMs = nowMs;
  const { pauseMs, open } = pauses;
  if (open > 0) return;
  if (pauseMs === undefined) pauses.pauseMs = gapMs;
  else if (gapMs > pauseMs) pauses.pauseMs = Math.min(gapMs, 2 * Math.max(pauseMs, leastPauseMs));
  // A request that follows an answer at once does not show the usual pause.
  else if (gapMs > pauseMs / 4) pauses.pauseMs = Math.max(gapMs, 0.75 * pauseMs);
}

export const pauseOf = ({ pauseMs = firstPauseMs }: RequestPauses): number => Math.max(pauseMs, leastPauseMs);
