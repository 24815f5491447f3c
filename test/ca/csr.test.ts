import { beforeAll, describe, expect, it } from "vitest";
import { readCsr } from "../../lib/ca/csr.ts";
import { requestFor, requestWithExponent } from "./requests.ts";

describe("readCsr", () => {
  let csr = "";
  beforeAll(async () => {
    csr = (await requestFor()).csr;
  });

  const reasonOf = async (pem: string): Promise<string> => {
    const read = await readCsr(pem);
    return read.kind === "refused" ? read.reason : "";
  };

  it("takes PEM with Windows' line breaks and text around it", async () => {
    expect(await reasonOf(`a text\n${csr.replaceAll("\n", "\r\n")}\n`)).toBe("");
  });

  it.each([
    ["nothing", () => ""],
    ["two requests", () => `${csr}\n${csr}`],
    ["a certificate", () => csr.replaceAll("CERTIFICATE REQUEST", "CERTIFICATE")],
    ["no end", () => csr.slice(0, -10)],
    ["characters that base64 lacks", () => csr.replace("M", "§")],
  ])("refuses %s, which is not one request in PEM", async (_what, pem) => {
    expect(await reasonOf(pem())).toBe("csr is not one CERTIFICATE REQUEST in PEM");
  });

  it("refuses a request of which bytes are missing, and quotes none", async () => {
    const lines = csr.trim().split("\n");
    expect(await reasonOf([lines[0], lines[1], lines.at(-1)].join("\n"))).toBe("the CSR cannot be read");
  });

  it("refuses a request that was changed after its key signed it", async () => {
    const der = Buffer.from(csr.replace(/-----[^-]+-----/g, ""), "base64");
    const at = der.indexOf("test");
    expect(at).toBeGreaterThan(0);
    der.write("tesu", at);
    const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString("base64")}\n-----END CERTIFICATE REQUEST-----\n`;
    expect(await reasonOf(pem)).toBe("the CSR is not signed with the key in it");
  });

  it.each(["RSA 1024", "P-521"] as const)("refuses a key of %s", async (type) => {
    expect(await reasonOf((await requestFor(type)).csr)).toContain("neither ECDSA (P-256, P-384) nor RSA");
  });

  it.each([
    ["1, with which anybody signs", "AQ"],
    ["4, which no private key fits", "BA"],
    ["2^64 + 1", "AQAAAAAAAAAB"],
  ])("refuses an RSA key whose exponent is %s", async (_what, exponent) => {
    expect(await reasonOf(await requestWithExponent(exponent))).toContain("an odd exponent above 1");
  });

  it("takes an RSA key with the exponent 65537 by the same way, if its signature holds", async () => {
    expect(await reasonOf(await requestWithExponent("AQAB"))).toBe("the CSR is not signed with the key in it");
  });

  it("refuses a signature with SHA-1", async () => {
    expect(await reasonOf((await requestFor("RSA, SHA-1")).csr)).toContain("SHA-1");
  });

  it("reads no further than its bound", async () => {
    expect(await reasonOf(csr + " ".repeat(16 * 1024))).toContain("longer than 16384 characters");
  });
});
