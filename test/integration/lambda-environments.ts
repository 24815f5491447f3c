import { type ChildProcess, spawn } from "node:child_process";

const script = new URL("lambda-process.ts", import.meta.url).pathname;

/**
 * The execution environments of one Lambda function, one event at a time each: made when an event finds none that waits, stopped in the
 * very moment of an answer (AWS freezes them), thawed for the next event, killed without a signal that could be heard.
 */
export class LambdaEnvironments {
  readonly #folder: string;
  readonly #env: NodeJS.ProcessEnv;
  #waiting: ChildProcess[] = [];
  #started = 0;

  /** @param folder of the function's bundle @param env what the function is configured with */
  constructor(folder: string, env: NodeJS.ProcessEnv) {
    this.#folder = folder;
    this.#env = env;
  }

  /** How many cold starts there were. */
  get started(): number {
    return this.#started;
  }

  readonly handler = async (event: object): Promise<unknown> => {
    const environment = this.#waiting.pop() ?? (await this.#start());
    environment.kill("SIGCONT");
    const result = next(environment);
    environment.send({ event });
    const answer = await result;
    environment.kill("SIGSTOP");
    this.#waiting.push(environment);
    return answer;
  };

  /** Ends those that wait. */
  async kill(): Promise<void> {
    const ended = this.#waiting.map((environment) => new Promise((resolve) => environment.once("exit", resolve)));
    for (const environment of this.#waiting) environment.kill("SIGKILL");
    this.#waiting = [];
    await Promise.all(ended);
  }

  async #start(): Promise<ChildProcess> {
    this.#started += 1;
    const environment = spawn(process.execPath, [script, this.#folder], {
      env: { ...process.env, ...this.#env },
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    await next(environment);
    return environment;
  }
}

function next(environment: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const gone = (code: number | null) => reject(new Error(`the environment ended with ${code}`));
    environment.once("exit", gone);
    environment.once("message", (message) => {
      environment.off("exit", gone);
      resolve(typeof message === "object" && message !== null && "result" in message ? message.result : undefined);
    });
  });
}
