/**
 * Runs a job on demand: one at a time, and however many ask meanwhile, one more after it. Who asks while a run is under way
 * gets the result of the next, since the one under way may have looked before what he asks for was there.
 */
export function coalesce<T>(run: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> | undefined;
  let pending: Promise<T> | undefined;

  function start(): Promise<T> {
    const result = run();
    const finished = result.then(
      () => {},
      () => {},
    );
    running = finished;
    void finished.then(() => {
      if (running === finished) running = undefined;
    });
    return result;
  }

  return () => {
    if (running === undefined) return start();
    pending ??= running.then(() => {
      pending = undefined;
      return start();
    });
    return pending;
  };
}
