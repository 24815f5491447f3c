import { describe, expect, it } from "vitest";
import { parseNodeId } from "../../lib/legacy/node-id.ts";

describe("parseNodeId", () => {
  it.each([
    { ip: "10.1.1.0", bytes: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 1, 1, 0] },
    { ip: "::1", bytes: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1] },
    { ip: "2001:db8::ff00:42:8329", bytes: [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0xff, 0, 0, 0x42, 0x83, 0x29] },
    { ip: "1:2:3:4:5:6:7:8", bytes: [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8] },
    { ip: "::ffff:10.1.1.0", bytes: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 1, 1, 0] },
  ])("knows the bytes of $ip", ({ ip, bytes }) => {
    const ipBytes = Buffer.from(bytes).toString("base64");
    expect(parseNodeId(`sidecar~${ip}~x~y`)).toMatchObject({ ip, ipBytes });
  });

  it.each(["10.1.1", "10.1.1.256", "1::2::3", "fe80::1%eth0", "::1]/[", "10.1.1.0/32", "a.example.com"])(
    "refuses %s for a sidecar and takes it for others",
    (ip) => {
      expect(parseNodeId(`sidecar~${ip}~x~y`)).toHaveProperty("error");
      expect(parseNodeId(`router~${ip}~x~y`)).toMatchObject({ ip, ipBytes: "" });
    },
  );
});
