import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { ContainerSASPermissions } from "@azure/storage-blob";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { program } from "../../programs.ts";
import { lacks } from "../../skip.ts";
import { type AzureServer, azuriteNeeded, hasAzurite, startAzurite } from "../../storage/azurite-server.ts";
import { type GcsServer, gcsNeeded, hasGcs, startGcs } from "../../storage/gcs-server.ts";

const root = resolve(import.meta.dirname, "../../..");
const shop = join(root, "samples/bookshop");

/** Folder of a user without credentials. */
let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "portolan-clouds-"));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** Runs a command with nothing in its environment but what it needs. @returns standard output, or standard error of one that fails */
async function portolan(env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<string> {
  const { PATH = "" } = process.env;
  const words = [await program("cli"), ...args];
  const options = { cwd: home, env: { PATH, HOME: home, NO_COLOR: "1", ...env }, maxBuffer: 10_000_000 };
  return promisify(execFile)(process.execPath, words, options).then(
    ({ stdout }) => stdout,
    (cause) => String(cause.stderr),
  );
}

describe.skipIf(lacks(hasGcs, gcsNeeded) || lacks(hasAzurite, azuriteNeeded))("stores of clouds", () => {
  let gcs: GcsServer;
  let azure: AzureServer;
  let google: Readonly<Record<string, string>>;
  beforeAll(async () => {
    [gcs, azure] = await Promise.all([startGcs(), startAzurite()]);
    google = { STORAGE_EMULATOR_HOST: gcs.endpoint };
  });
  afterAll(() => Promise.all([gcs?.close(), azure?.close()]));

  it("are published to, copied from one to the other, checked and read", async () => {
    const [from, to] = [`gs://${gcs.bucket}/prod`, `az://${azure.account}/mesh/copy?endpoint=${azure.endpoint}`];
    const env = { ...google, AZURE_STORAGE_KEY: azure.key };
    expect(await portolan(env, "push", shop, "--store", from)).toContain("published");
    expect(await portolan(env, "replicate", to, "--store", from)).toMatch(/[1-9]\d* objects copied/);
    const statusOf = async (store: string) => JSON.parse(await portolan(env, "status", "--json", "--store", store));
    const [original, copy] = [await statusOf(from), await statusOf(to)];
    expect(original.served).toMatch(/^[0-9a-f]{64}$/);
    expect(copy.served).toBe(original.served);
    for (const store of [from, to]) expect(await portolan(env, "fsck", "--store", store)).toMatch(/ 1 root, \d+ blobs/);
  }, 120_000);

  /** @param endpoint where the store's URL has to name the server */
  async function expectOpened(name: string, env: Readonly<Record<string, string>>, endpoint = ""): Promise<void> {
    const store = `az://${azure.account}/mesh/${name}${endpoint}`;
    expect(await portolan(env, "push", shop, "--store", store)).toContain("published");
    expect(await portolan(env, "history", "--store", store)).toContain("publish");
  }

  it("in Azure are opened with a connection string, which names the server too", async () => {
    const { account, key, endpoint } = azure;
    const text = `DefaultEndpointsProtocol=http;AccountName=${account};AccountKey=${key};BlobEndpoint=${endpoint};`;
    await expectOpened("connection", { AZURE_STORAGE_CONNECTION_STRING: text });
  }, 60_000);

  it("in Azure are opened with a shared access signature", async () => {
    const permissions = ContainerSASPermissions.parse("racwdl");
    const url = await azure.client.generateSasUrl({ permissions, expiresOn: new Date(Date.now() + 3_600_000) });
    await expectOpened("signature", { AZURE_STORAGE_SAS_TOKEN: new URL(url).search }, `?endpoint=${azure.endpoint}`);
  }, 60_000);
});

it("says which text of Azure's cannot be read, and does not show it", async () => {
  const said = await portolan(
    { AZURE_STORAGE_CONNECTION_STRING: "AccountKey=hidden" },
    "status",
    "--store",
    "az://a/mesh",
  );
  expect(said).toMatch(/^portolan: AZURE_STORAGE_CONNECTION_STRING cannot be read: /);
  expect(said).not.toContain("hidden");
});

describe("a store of a cloud without credentials", () => {
  // Neither the machine's account nor a service beside it answers here.
  const nowhere = {
    METADATA_SERVER_DETECTION: "none",
    AZURE_TOKEN_CREDENTIALS: "EnvironmentCredential",
  };

  it.each([
    ["gs://mesh/prod", /no credentials for the bucket mesh: run gcloud auth application-default login, or name a file/],
    [
      "az://account/mesh",
      /no credentials for the container account\/mesh: run az login, give the workload an identity/,
    ],
  ])(
    "says of %s what to set",
    async (store, want) => {
      expect(await portolan(nowhere, "status", "--store", store)).toMatch(want);
    },
    60_000,
  );
});
