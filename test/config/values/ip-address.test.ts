import fc from "fast-check";
import ipaddr from "ipaddr.js";
import { describe, expect, it } from "vitest";
import {
  ipMode,
  isCidr,
  isGlobalUnicast,
  isIpAddress,
  isIpOrCidr,
  maskedCidr,
  readIpRange,
} from "../../../lib/config/values/ip-address.ts";

describe("addresses and ranges", () => {
  it.each([
    { text: "10.0.0.1", address: true, range: true, cidr: false },
    { text: "fd00::1", address: true, range: true, cidr: false },
    { text: "::ffff:10.0.0.1", address: true, range: true, cidr: false },
    { text: "10.0.0.0/8", address: false, range: true, cidr: true },
    { text: "fd00::/8", address: false, range: true, cidr: true },
    // What the library takes by itself, and Istio does not.
    { text: "10.1", address: false, range: false, cidr: false },
    { text: "167772161", address: false, range: false, cidr: false },
    { text: "0x0a.0.0.1", address: false, range: false, cidr: false },
    { text: "010.0.0.1", address: false, range: false, cidr: false },
    { text: "10.0.0.0/08", address: false, range: false, cidr: false },
    { text: "fe80::1%eth0/64", address: false, range: false, cidr: false },
    { text: "10.0.0.0/33", address: false, range: false, cidr: false },
    { text: "fd00::/129", address: false, range: false, cidr: false },
    { text: "10.0.0.0/8/8", address: false, range: false, cidr: false },
    { text: "10.0.0.0/", address: false, range: false, cidr: false },
    { text: "[::1]", address: false, range: false, cidr: false },
    { text: "a.example", address: false, range: false, cidr: false },
    { text: "", address: false, range: false, cidr: false },
  ])("are told apart: $text", ({ text, address, range, cidr }) => {
    expect([isIpAddress(text), isIpOrCidr(text), isCidr(text)]).toEqual([address, range, cidr]);
  });

  it("are of four decimal parts where the library says so, whatever numbers they are", () => {
    const part = fc.oneof(fc.integer({ min: 0, max: 300 }).map(String), fc.stringMatching(/^\d{0,4}$/));
    fc.assert(
      fc.property(fc.array(part, { minLength: 3, maxLength: 5 }), (parts) => {
        const text = parts.join(".");
        expect(isIpAddress(text)).toBe(ipaddr.IPv4.isValidFourPartDecimal(text));
      }),
    );
  });

  it.each([
    ["10.1.2.3/8", { address: "10.1.2.3", bits: 8 }, "10.0.0.0/8"],
    ["10.1.2.3", { address: "10.1.2.3", bits: 32 }, "10.1.2.3/32"],
    ["10.1.2.3/0", { address: "10.1.2.3", bits: 0 }, "0.0.0.0/0"],
    ["2001:DB8:0::1/33", { address: "2001:db8::1", bits: 33 }, "2001:db8::/33"],
    ["FD00:0:0:0:0:0:0:1", { address: "fd00::1", bits: 128 }, "fd00::1/128"],
    ["::FFFF:10.0.0.1", { address: "::ffff:10.0.0.1", bits: 128 }, "::ffff:a00:1/128"],
    ["a.example", undefined, undefined],
  ])("are read and masked: %s", (text, range, masked) => {
    expect(readIpRange(text)).toEqual(range);
    expect(maskedCidr(text)).toBe(masked);
  });

  it.each([
    [["10.0.0.1"], "IPv4"],
    [["fd00::1"], "IPv6"],
    [["10.0.0.1", "fd00::1"], "dual"],
    [[], "IPv4"],
  ])("have the families of all: %j", (addresses, mode) => {
    expect(ipMode(addresses)).toBe(mode);
  });
});

describe("an address that others can reach", () => {
  it.each(["10.0.0.1", "192.168.0.1", "100.64.0.1", "240.240.0.1", "fd00::1", "2001:db8::1", "::ffff:10.0.0.1"])(
    "is %s",
    (address) => {
      expect(isGlobalUnicast(address)).toBe(true);
    },
  );

  it.each([
    "0.0.0.0",
    "127.0.0.1",
    "169.254.1.1",
    "224.0.0.1",
    "239.255.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "fe80::1",
    "febf::1",
    "ff02::1",
    "::ffff:127.0.0.1",
    "a.example",
  ])("is not %s", (address) => {
    expect(isGlobalUnicast(address)).toBe(false);
  });
});
