import { describe, expect, it } from "vitest";
import { parseNodeId } from "../../lib/legacy/node-id.ts";
import { fill, hasHoles, holes, packedHoles } from "../../lib/legacy/template.ts";

const read = parseNodeId('sidecar~10.1.1.0~a"<b>~default.svc.cluster.local');
if ("error" in read) throw new Error(read.error);
const node = read;

describe("fill", () => {
  const { ip, ipBytes, id } = holes("sidecar", "default.svc.cluster.local");

  it("puts the node's properties into the holes, as they stand inside of JSON texts", async () => {
    const template = JSON.stringify({ at: `tcp://${ip}:80`, bytes: ipBytes, uid: `kubernetes://${id}`, other: "ip" });
    expect(JSON.parse(await fill(template, node))).toEqual({
      at: "tcp://10.1.1.0:80",
      bytes: "AAAAAAAAAAAAAP//CgEBAA==",
      uid: 'kubernetes://a"<b>',
      other: "ip",
    });
    expect(await fill(template, node)).toContain("\\u003cb\\u003e");
  });

  it("packs what is filled, and signs the same", async () => {
    const { packed, digest } = packedHoles(`{"uid":"${id}"}`);
    const [text = "", sum = ""] = (await fill(`${packed} ${digest}`, node)).split(" ");
    const inner = atob(text);
    expect(JSON.parse(inner)).toEqual({ uid: 'a"<b>' });
    const wanted = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(inner));
    expect(sum).toBe(Buffer.from(wanted).toString("base64"));
  });

  it("leaves a text without holes alone", async () => {
    expect(hasHoles("plain")).toBe(false);
    expect(await fill("plain", node)).toBe("plain");
  });
});
