import { describe, expect, it } from "vitest";
import { fsck } from "../../lib/snapshot/fsck.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { worldOf } from "../snapshot/worlds.ts";
import { nodeOf, pollBody, testFront } from "./fixtures.ts";

describe("a front that trusts signatures only", () => {
  it("serves signed roots, keeps the last of them in place of others, and serves nothing before the first", async () => {
    const keys = await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]);
    if (!("privateKey" in keys)) throw new Error("no key pair");
    const trusted = [{ keyId: "k1", publicKey: keys.publicKey }];
    const errors: string[] = [];
    const { store, poll } = testFront({ trusted, onError: (cause) => errors.push(String(cause)) });
    const ask = async () => {
      const response = await poll("clusters", pollBody("clusters", nodeOf("web")));
      return response.status === 200 ? /"content":"(\w+)"/.exec(await response.text())?.[1] : response.status;
    };
    const pace = { settleMs: 0, retentionMs: 0 };
    const publish = async (content: string, signed: boolean) => {
      const signer = { keyId: "k1", privateKey: keys.privateKey };
      const publisher = createPublisher(store, { pace, ...(signed ? { signer } : {}) });
      await publisher.publish(worldOf({ web: { clusters: { a: content } } }), await publisher.head());
    };
    await publish("forged", false);
    expect(await ask()).toBe(503);
    await publish("first", true);
    expect(await ask()).toBe("first");
    expect((await fsck(store, { trusted })).problems).toEqual([]);
    await publish("second", false);
    expect(await ask()).toBe("first");
    expect((await fsck(store, { trusted })).problems).toEqual([expect.stringContaining("is not signed")]);
    expect(errors.join()).toContain("none of the trusted keys");
  });
});
