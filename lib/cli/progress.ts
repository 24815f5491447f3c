import { Listr, ListrLogger, ProcessOutput } from "listr2";

/** One step of a long job. */
export interface ProgressStep {
  readonly title: string;
  run(): Promise<void>;
}

/** From this many objects on, people want to see that something happens. */
export const bigInput = 200;

/**
 * Runs steps in order and shows which one is under way: as moving lines on a terminal, as plain lines in a log; both on
 * standard error, so that results stay alone on standard output.
 *
 * @param isShown false for a job that is over before anybody wonders
 * @throws what a step throws; the later ones are not run
 */
export async function inSteps(steps: readonly ProgressStep[], isShown: boolean): Promise<void> {
  const logger = new ListrLogger({ processOutput: new ProcessOutput(process.stderr, process.stderr) });
  const tasks = steps.map(({ title, run }) => ({ title, task: run }));
  const list = !isShown
    ? new Listr(tasks, { renderer: "silent" })
    : process.stderr.isTTY
      ? new Listr(tasks, { renderer: "default", rendererOptions: { logger } })
      : new Listr(tasks, { renderer: "simple", rendererOptions: { logger } });
  await list.run();
}
