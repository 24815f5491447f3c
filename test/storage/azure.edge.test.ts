import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { azureStore } from "../../lib/storage/azure.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { lacks } from "../skip.ts";
import { type AzureServer, azuriteNeeded, hasAzurite, startAzurite } from "./azurite-server.ts";
import { expectAllPages, storeContract } from "./contract.ts";

const text = (value: string) => new TextEncoder().encode(value);

describe.skipIf(lacks(hasAzurite, azuriteNeeded))("azureStore", () => {
  for (const prefix of ["", "meshes/a/"]) {
    storeContract(`Azure Blob Storage${prefix === "" ? "" : " below a prefix"}`, async () => {
      const { client, close } = await startAzurite();
      return { store: azureStore({ client, prefix }), close };
    });
  }

  describe("on a server", () => {
    let server: AzureServer;
    let store: ObjectStore;
    beforeAll(async () => {
      server = await startAzurite();
      store = azureStore({ client: server.client });
    });
    afterAll(() => server.close());

    it("does not take a container that is absent for an empty one", async () => {
      const { ContainerClient, StorageSharedKeyCredential } = await import("@azure/storage-blob");
      const credential = new StorageSharedKeyCredential(server.account, server.key);
      const absent = azureStore({ client: new ContainerClient(`${server.endpoint}/other`, credential) });
      for (const ask of [() => absent.get("HEAD"), () => absent.delete("HEAD"), () => absent.put("HEAD", text("a"))])
        await expect(ask()).rejects.toThrow(
          /^Azure container meshaccount\/other: .*The specified container does not exist/,
        );
    });

    it("does not take a lease that somebody holds for a lost race", async () => {
      await store.put("leased", text("a"));
      const found = await store.get("leased");
      const lease = server.client.getBlobClient("leased").getBlobLeaseClient();
      await lease.acquireLease(60);
      const put = store.put("leased", text("b"), { ifMatch: found.kind === "found" ? found.etag : "" });
      await expect(put).rejects.toThrow(/lease/i);
    });

    it("lists all pages", async () => {
      await expectAllPages(azureStore({ client: server.client, prefix: "pages/", pageSize: 2 }));
    });

    it("tells the server's clock", async () => {
      await store.get("HEAD");
      await store.put("clock", text("a"));
      expect(Math.abs(((await store.time?.()) ?? 0) - Date.now())).toBeLessThan(2_000);
    });
  });
});
