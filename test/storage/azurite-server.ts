import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ContainerClient, StorageSharedKeyCredential } from "@azure/storage-blob";
import { freePort } from "../free-port.ts";
import { whenUp } from "./s3-server.ts";

const program = new URL("../../.cache/azurite/node_modules/azurite/dist/src/blob/main.js", import.meta.url).pathname;

export const hasAzurite = existsSync(program);
export const azuriteNeeded = "Azurite, an Azure Blob Storage server: npm run setup:e2e fetches it from npm";

export interface AzureServer {
  readonly account: string;
  readonly key: string;
  /** URL of the account. */
  readonly endpoint: string;
  /** A client of a container that is there, and does not repeat requests. */
  readonly client: ContainerClient;
  close(): Promise<void>;
}

/** Starts the Azure Blob Storage server that `npm run setup:e2e` fetched, with one empty container. */
export async function startAzurite(): Promise<AzureServer> {
  const directory = await mkdtemp(join(tmpdir(), "portolan-azurite-"));
  const port = await freePort();
  const [account, key] = ["meshaccount", Buffer.from("a key of an account").toString("base64")];
  const options = ["--blobHost", "127.0.0.1", "--blobPort", String(port), "--inMemoryPersistence"];
  const child = spawn(
    process.execPath,
    [program, ...options, "--silent", "--disableTelemetry", "--skipApiVersionCheck"],
    {
      cwd: directory,
      env: { ...process.env, AZURITE_ACCOUNTS: `${account}:${key}` },
      stdio: "ignore",
    },
  );
  const endpoint = `http://127.0.0.1:${port}/${account}`;
  await whenUp(endpoint);
  const credential = new StorageSharedKeyCredential(account, key);
  const client = new ContainerClient(`${endpoint}/mesh`, credential, { retryOptions: { maxTries: 1 } });
  await client.create().catch((cause: unknown) => {
    child.kill("SIGKILL");
    throw cause;
  });
  return {
    account,
    key,
    endpoint,
    client,
    async close() {
      const exit = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await exit;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
