import { execFile, spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { load } from "js-yaml";
import { makeWrappingKey } from "../../lib/secrets/environment-key.ts";
import { freePort } from "../free-port.ts";
import { program } from "../programs.ts";
import { type Bookshop, openBookshop } from "./bookshop.ts";
import { eventually, type RunningEnvoy, startEnvoy } from "./envoy.ts";

const [cli, serverProgram] = [await program("cli"), await program("server")];

/** The bookshop behind a front that asks who reads, follows signed HEADs only, and serves secrets; all by the command line. */
export interface GuardedShop {
  readonly shop: Bookshop;
  /** For files of the test's. */
  readonly folder: string;
  readonly frontUrl: string;
  readonly tokenFile: string;
  portolan(...args: readonly string[]): Promise<string>;
  push(): Promise<string>;
  newToken(): Promise<string>;
  /** Ends the front and starts it again, at the same address. */
  restartFront(): Promise<void>;
  /** Lines that fronts have logged, JSON each. */
  readonly logged: readonly string[];
  /** An Envoy as the shop's gateway, with the bootstrap that the command line wrote. */
  startGateway(): Promise<RunningEnvoy>;
  close(): Promise<void>;
}

/** What is told to the command line and to the front besides; a key to secrets, if not one in the environment. */
export interface ShopEnvironment {
  readonly portolan: Readonly<Record<string, string>>;
  readonly front: Readonly<Record<string, string>>;
}

export async function openGuardedShop(
  prepare: (shop: Bookshop) => Promise<void> = async () => {},
  environment: ShopEnvironment = { portolan: {}, front: {} },
): Promise<GuardedShop> {
  const shop = await openBookshop();
  await prepare(shop);
  const folder = await mkdtemp(join(tmpdir(), "portolan-guarded-"));
  const tokenFile = join(folder, "token");
  const secretsKey = makeWrappingKey();
  const keyring = { PORTOLAN_KEYRING: join(folder, "keys.json"), PORTOLAN_SECRETS_KEY: secretsKey };
  const env = { ...process.env, ...keyring, ...environment.portolan };
  const portolan = async (...args: readonly string[]) => {
    const { stdout } = await promisify(execFile)(process.execPath, [cli, ...args], { env });
    return stdout.trim();
  };
  const push = () => portolan("push", shop.folder, "--store", join(folder, "store"));
  await portolan("keys", "create", "--use", "tokens");
  await portolan("keys", "create", "--use", "tokens");
  await portolan("keys", "create", "--use", "roots");
  await push();

  const port = await freePort();
  const settings = {
    PORT: String(port),
    HOST: "0.0.0.0",
    PORTOLAN_MAX_HOLD_MS: "1000",
    PORTOLAN_STORE: join(folder, "store"),
    PORTOLAN_GENERATIONS: join(folder, "generations"),
    PORTOLAN_SECRETS_KEY: secretsKey,
    PORTOLAN_TRUSTED_KEYS: await portolan("keys", "list", "--use", "roots", "--public"),
    PORTOLAN_AUTHENTICATION: `{"tokens": ${await portolan("keys", "list", "--use", "tokens", "--public")}}`,
  };
  const frontUrl = `http://127.0.0.1:${port}`;
  const logged: string[] = [];
  const startFront = async () => {
    const server = spawn(process.execPath, [serverProgram], {
      env: { ...process.env, ...settings, ...environment.front },
      stdio: ["ignore", "pipe", "inherit"],
    });
    createInterface(server.stdout).on("line", (line) => logged.push(line));
    const exit = new Promise((resolve) => server.once("exit", resolve));
    const isUp = () =>
      fetch(`${frontUrl}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      );
    await eventually(isUp, (ok) => ok);
    return async () => {
      server.kill("SIGTERM");
      await exit;
    };
  };
  let stopFront = await startFront();
  return {
    shop,
    folder,
    frontUrl,
    tokenFile,
    portolan,
    push,
    newToken: () => portolan("token", "create", "--namespace", "bookshop", "--ttl", "1h", "--out", tokenFile),
    async startGateway() {
      const out = join(folder, "envoy");
      const node = ["istio-ingressgateway-1.bookshop", "--dir", shop.folder, "--admin-port", "0"];
      await portolan("bootstrap", ...node, "--server", frontUrl, "--token-file", tokenFile, "--out", out);
      return startEnvoy(Object(load(await readFile(join(out, "envoy.yaml"), "utf8"))));
    },
    logged,
    async restartFront() {
      await stopFront();
      stopFront = await startFront();
    },
    async close() {
      await stopFront();
      await shop.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
