/**
 * Runs a job on demand: one at a time, and however many ask meanwhile, one more after it. Who asks while a run is under way
 * gets the result of the next, since the one under way may have looked before what he asks for was there. Who asks for
 * something in particular gets a run of his own, in his turn.
 */
export function coalesce<T, A = never>(run: (asked?: A) => Promise<T>): (asked?: A) => Promise<T> {
  let last: Promise<unknown> | undefined;
  let pending: Promise<T> | undefined;

  function inTurn(job: () => Promise<T>): Promise<T> {
    const result = last === undefined ? job() : last.then(job);
    const finished = result.then(
      () => {},
      () => {},
    );
    last = finished;
    void finished.then(() => {
      if (last === finished) last = undefined;
    });
    return result;
  }

  return (asked) => {
    if (asked !== undefined) return inTurn(() => run(asked));
    if (last === undefined) return inTurn(run);
    pending ??= inTurn(() => {
      pending = undefined;
      return run();
    });
    return pending;
  };
}
