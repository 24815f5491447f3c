/**
 * A clock for how old something is: the wall clock, except that it never goes back. What is remembered for some seconds would otherwise count
 * for as long as the wall clock is set back.
 *
 * @param now the wall clock, milliseconds since the epoch
 */
export function forwardClock(now: () => number): () => number {
  let wallMs = now();
  let monotonicMs = performance.now();
  let shownMs = wallMs;
  return () => {
    const [wall, monotonic] = [now(), performance.now()];
    shownMs += wall >= wallMs ? wall - wallMs : monotonic - monotonicMs;
    wallMs = wall;
    monotonicMs = monotonic;
    return shownMs;
  };
}
