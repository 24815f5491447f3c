import { type ChildProcess, fork } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { grpcBootstrapFor } from "../../lib/cli/proxy/grpc-bootstrap.ts";
import type { WorkloadProxy } from "../../lib/mesh/proxy/proxy-of-workload.ts";
import { issueIdentity } from "./certificates.ts";
import type { CallOrder } from "./grpc-program.ts";

const programFile = new URL("./grpc-program.ts", import.meta.url).pathname;

export interface GrpcProgram {
  /** What the answer to a call says, or how it failed: `PERMISSION_DENIED: …`. */
  call(path: string, headers?: Readonly<Record<string, string>>): Promise<string>;
  /** All that it has written to its log. */
  log(): string;
  stop(): Promise<void>;
}

export interface ProgramOptions {
  readonly proxy: Pick<WorkloadProxy, "node">;
  /** Where streams are served. */
  readonly server: string;
  /** A folder of its own. */
  readonly folder: string;
  /** Root certificate of who gives it an identity, and that identity; undefined: it has none. */
  readonly identity: { readonly authority: string; readonly spiffeId: string } | undefined;
}

/**
 * Starts a program with the bootstrap that is printed for its pod.
 *
 * @param args of `grpc-program.ts`
 * @returns a server when it serves, a client at once
 */
export async function startProgram(
  args: readonly string[],
  { proxy, server, folder, identity }: ProgramOptions,
): Promise<GrpcProgram> {
  mkdirSync(folder, { recursive: true });
  if (identity !== undefined) {
    const issued = issueIdentity(identity.authority, identity.spiffeId);
    cpSync(join(issued, "cert.pem"), join(folder, "cert-chain.pem"));
    cpSync(join(issued, "key.pem"), join(folder, "key.pem"));
    cpSync(identity.authority, join(folder, "root-cert.pem"));
  }
  const certificates = identity === undefined ? "none" : "files";
  const bootstrap = grpcBootstrapFor(proxy, { server, certificates, certificateFolder: folder });
  const file = join(folder, "grpc-bootstrap.json");
  writeFileSync(file, JSON.stringify(bootstrap));
  // gRPC for Node refuses a listener with policies otherwise; other languages take them.
  const env = { ...process.env, GRPC_XDS_BOOTSTRAP: file, GRPC_XDS_EXPERIMENTAL_RBAC: "true" };
  const child = fork(programFile, args, { env, stdio: ["ignore", "pipe", "pipe", "ipc"] });
  return programOf(child);
}

async function programOf(child: ChildProcess): Promise<GrpcProgram> {
  let log = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (data) => {
      log += data;
    });
  const exit = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const waiting = new Map<number, (outcome: string) => void>();
  const bound = new Promise<string>((resolve) => {
    child.on("message", (told: { readonly id?: number; readonly outcome?: string; readonly bound?: string }) => {
      if (told.bound !== undefined) resolve(told.bound);
      if (told.id === undefined) return;
      waiting.get(told.id)?.(told.outcome ?? "");
      waiting.delete(told.id);
    });
  });
  const trouble = await Promise.race([bound, exit.then(() => "it has ended")]);
  if (trouble !== "") throw new Error(`the program does not serve: ${trouble}\n${log}`);
  let calls = 0;
  return {
    call(path, headers = {}) {
      const order: CallOrder = { id: ++calls, path, headers };
      return new Promise((resolve) => {
        waiting.set(order.id, resolve);
        child.send(order);
      });
    },
    log: () => log,
    async stop() {
      child.kill("SIGTERM");
      await exit;
    },
  };
}
