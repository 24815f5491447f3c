import { type ChildProcess, spawn } from "node:child_process";
import { type LambdaAnswer, RuntimeApi } from "./lambda-runtime-api.ts";

const script = new URL("lambda-process.ts", import.meta.url).pathname;

interface Environment {
  readonly process: ChildProcess;
  readonly api: RuntimeApi;
}

/**
 * The execution environments of one Lambda function, one event at a time each: made when an event finds none that waits, stopped in the
 * very moment of an answer (AWS freezes them), thawed for the next event, killed without a signal that could be heard. Each speaks the
 * protocol of Lambda's Runtime API over HTTP.
 */
export class LambdaEnvironments {
  readonly #folder: string;
  readonly #env: NodeJS.ProcessEnv;
  #waiting: Environment[] = [];
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

  readonly handler = async (event: object): Promise<LambdaAnswer> => {
    const environment = this.#waiting.pop() ?? (await this.#start());
    environment.process.kill("SIGCONT");
    const freeze = () => {
      environment.process.kill("SIGSTOP");
      this.#waiting.push(environment);
    };
    try {
      const answer = await environment.api.invoke(event);
      if (answer.kind === "result") freeze();
      // A stream is the function's until its end.
      else answer.whole.then(freeze, freeze);
      return answer;
    } catch (cause) {
      if (environment.process.exitCode === null && environment.process.signalCode === null) freeze();
      throw cause;
    }
  };

  /** Ends those that wait. */
  async kill(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    await Promise.all(
      waiting.map(async ({ process: environment, api }) => {
        const ended = new Promise((resolve) => environment.once("exit", resolve));
        environment.kill("SIGKILL");
        await ended;
        api.close();
      }),
    );
  }

  async #start(): Promise<Environment> {
    this.#started += 1;
    const api = new RuntimeApi();
    const environment = spawn(process.execPath, [script, this.#folder], {
      env: { ...process.env, ...this.#env, AWS_LAMBDA_RUNTIME_API: await api.listen() },
      stdio: ["ignore", "ignore", "inherit"],
    });
    environment.once("exit", (code) => api.fail(new Error(`the environment ended with ${code}`)));
    return { process: environment, api };
  }
}
