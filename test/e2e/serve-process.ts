import { spawn } from "node:child_process";
import { once } from "node:events";

const program = new URL("../../functions/portolan.mjs", import.meta.url).pathname;

/** `portolan serve` as a process of its own, by the file settings.yaml of a folder. Resolves when it has said that it serves, and the texts besides. */
export async function startServe(folder: string, until: readonly string[]): Promise<{ stop(): Promise<void> }> {
  const child = spawn(process.execPath, [program, "serve", "--settings", "settings.yaml"], { cwd: folder });
  let log = "";
  await new Promise<void>((resolve, reject) => {
    const hear = (data: Buffer) => {
      log = (log + data.toString()).slice(-100_000);
      if (['"msg":"serving"', ...until].every((text) => log.includes(text))) resolve();
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("exit", () => reject(new Error(`serve has ended: ${log.slice(-2_000)}`)));
  });
  return {
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exit = once(child, "exit");
      child.kill("SIGTERM");
      await exit;
    },
  };
}
