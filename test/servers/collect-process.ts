import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { program } from "../programs.ts";

const cli = await program("cli");

/** `portolan collect …` as a process of its own. */
export interface CollectProcess {
  /** Names of what it has told, in order. */
  readonly events: readonly string[];
  /** Resolves when it has told this so many times. */
  told(event: string, times?: number): Promise<void>;
  stop(): Promise<void>;
}

export function startCollect(args: readonly string[]): CollectProcess {
  const child = spawn(process.execPath, [cli, "collect", ...args, "--json"], { stdio: ["ignore", "pipe", "inherit"] });
  const exit = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const events: string[] = [];
  createInterface(child.stdout).on("line", (line) => {
    const { event }: { readonly event: string } = JSON.parse(line);
    events.push(event);
  });
  return {
    events,
    async told(event, times = 1) {
      const deadline = Date.now() + 60_000;
      while (events.filter((one) => one === event).length < times) {
        if (Date.now() > deadline || child.exitCode !== null) throw new Error(`not ${event}, but ${events.join(", ")}`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
    async stop() {
      child.kill("SIGTERM");
      const code = await exit;
      if (code !== 0) throw new Error(`portolan collect ended with ${code} after SIGTERM`);
    },
  };
}
