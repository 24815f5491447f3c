import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { program } from "../programs.ts";

const cli = await program("cli");

/** `portolan dev` on a folder, as a process of its own. @returns when it serves */
export async function startDev(
  folder: string,
  more: readonly string[] = [],
  onEvent: (event: Readonly<Record<string, unknown>>) => void = () => {},
): Promise<{ readonly url: string; readonly grpcUrl: string; stop(): Promise<void>; kill(): Promise<void> }> {
  const args = [cli, "dev", folder, "--port", "0", "--json", "--store", join(folder, ".store"), ...more];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  // A test that ran out of time has nothing to stop it by.
  const end = () => child.kill("SIGKILL");
  process.once("exit", end);
  const exit = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  void exit.then(() => process.removeListener("exit", end));
  const { url, grpcUrl } = await new Promise<{ readonly url: string; readonly grpcUrl: string }>((resolve, reject) => {
    createInterface(child.stdout).on("line", (line) => {
      const event: { readonly event: string; readonly url?: string; readonly grpcUrl?: string } = JSON.parse(line);
      onEvent(event);
      if (event.event === "serving") resolve({ url: event.url ?? "", grpcUrl: event.grpcUrl ?? "" });
    });
    child.once("exit", (code) => reject(new Error(`portolan dev ended with ${code}`)));
  });
  return {
    url,
    grpcUrl,
    async stop() {
      child.kill("SIGTERM");
      await exit;
    },
    /** As a machine that fails would. */
    async kill() {
      child.kill("SIGKILL");
      await exit;
    },
  };
}
