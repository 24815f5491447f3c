import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gcsStore } from "../../lib/storage/gcs.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { lacks } from "../skip.ts";
import { expectAllPages, storeContract } from "./contract.ts";
import { type GcsServer, gcsNeeded, hasGcs, startGcs } from "./gcs-server.ts";

const authorize = async () => new Headers();
const text = (value: string) => new TextEncoder().encode(value);

describe.skipIf(lacks(hasGcs, gcsNeeded))("gcsStore", () => {
  for (const prefix of ["", "meshes/a/"]) {
    storeContract(`Google Cloud Storage${prefix === "" ? "" : " below a prefix"}`, async () => {
      const { endpoint, bucket, close } = await startGcs();
      return { store: gcsStore({ bucket, endpoint, prefix, authorize }), close };
    });
  }

  describe("with a server that fails", () => {
    let server: GcsServer;
    let store: ObjectStore;
    beforeAll(async () => {
      server = await startGcs();
      store = gcsStore({ ...server, authorize });
    });
    afterAll(() => server.close());

    it("transfers nothing to a reader who names the current generation", async () => {
      const put = await store.put("a", text("a"));
      const etag = put.kind === "stored" ? put.etag : "";
      expect(await store.get("a", { ifNoneMatch: etag })).toEqual({ kind: "unchanged" });
      expect(server.answers.at(-1)).toBe("GET 304");
      expect((await store.get("a", { ifNoneMatch: "1" })).kind).toBe("found");
    });

    it("reads and writes again after throttling and failures", async () => {
      server.failures.push({ status: 429, isCarriedOut: false }, { status: 503, isCarriedOut: false });
      expect((await store.put("b", text("b"))).kind).toBe("stored");
      server.failures.push({ status: 500, isCarriedOut: false });
      expect((await store.get("b")).kind).toBe("found");
      expect(server.answers.slice(-5)).toEqual(["POST 429", "POST 503", "POST 200", "GET 500", "GET 200"]);
    });

    it("has created what it finds as its own after an answer was lost, and lost what holds other bytes", async () => {
      server.failures.push({ status: 503, isCarriedOut: true });
      const put = await store.put("c", text("ours"), { ifNoneMatch: "*" });
      const found = await store.get("c");
      expect(put).toEqual({ kind: "stored", etag: found.kind === "found" ? found.etag : "" });
      server.failures.push({ status: 503, isCarriedOut: false });
      expect(await store.put("c", text("theirs"), { ifNoneMatch: "*" })).toEqual({ kind: "lost" });
    });

    it("gives up with the server's words", async () => {
      server.failures.push({ status: 403, isCarriedOut: false });
      await expect(store.get("a")).rejects.toThrow(`Google Cloud Storage bucket ${server.bucket}: answers 403`);
    });

    it("does not take a bucket that is absent for an empty one", async () => {
      const absent = gcsStore({ ...server, bucket: "other", authorize });
      for (const ask of [() => absent.get("HEAD"), () => absent.delete("HEAD"), () => absent.folders("")])
        await expect(ask()).rejects.toThrow("Google Cloud Storage bucket other: answers 404");
      await expect(absent.put("HEAD", text("a"))).rejects.toThrow("bucket other: answers 404");
    });

    it("lists all pages", async () => {
      await expectAllPages(gcsStore({ ...server, prefix: "pages/", pageSize: 2, authorize }));
    });

    it("sends what lets a request pass with each", async () => {
      let tokens = 0;
      const renewed = async () => {
        tokens += 1;
        return new Headers({ authorization: `Bearer ${tokens}` });
      };
      const signed = gcsStore({ ...server, authorize: renewed });
      await signed.put("signed", text("a"));
      await signed.get("signed");
      expect(server.authorizations.slice(-2)).toEqual(["Bearer 1", "Bearer 2"]);
    });

    it("lists the MD5 that the service has worked out", async () => {
      await store.put("md5/a", text("a"));
      for await (const { md5 } of store.list("md5/")) expect(md5).toBe("0cc175b9c0f1b6a831c399e269772661");
    });

    it("tells the server's clock", async () => {
      expect(Math.abs(((await store.time?.()) ?? 0) - Date.now())).toBeLessThan(2_000);
    });
  });
});
