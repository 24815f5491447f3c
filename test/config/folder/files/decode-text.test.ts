import { describe, expect, it } from "vitest";
import { decodeText } from "../../../../lib/config/folder/files/decode-text.ts";

const text = "kind: Service # Größe 漢字 😀\n";
const utf16 = (bigEndian: boolean, mark: boolean) => {
  const bytes = Buffer.from(`${mark ? "\ufeff" : ""}${text}`, "utf16le");
  return bigEndian ? bytes.swap16() : bytes;
};

describe("the text of a file", () => {
  it.each([
    ["UTF-8", Buffer.from(text)],
    ["UTF-8 with a byte order mark", Buffer.from(`\ufeff${text}`)],
    ["UTF-16LE with one", utf16(false, true)],
    ["UTF-16BE with one", utf16(true, true)],
  ])("is read from %s", (_, bytes) => {
    expect(decodeText(bytes)).toEqual({ text });
  });

  it("is empty where a file is", () => {
    expect(decodeText(new Uint8Array())).toEqual({ text: "" });
  });

  it.each([
    [
      "UTF-16LE without a mark",
      utf16(false, false),
      /^byte 1 is 0: it looks like UTF-16LE without .*iconv -f UTF-16LE/,
    ],
    ["UTF-16BE without a mark", utf16(true, false), /^byte 0 is 0: it looks like UTF-16BE without .*iconv -f UTF-16BE/],
    ["a picture", Buffer.from("89504e470d0a1a0a0000000d4948445200000001", "hex"), /^byte 8 is 0: the file is binary/],
    [
      "Latin-1",
      Buffer.from("kind: Gr\u00f6\u00dfe\n", "latin1"),
      /^byte 8 \(0xf6\) is not UTF-8: .*iconv -f WINDOWS-1252/,
    ],
    ["a letter that is cut off", Buffer.from("kind: \u6f22").subarray(0, 8), /^byte 6 \(0xe6\) is not UTF-8/],
    ["a byte that begins nothing", Buffer.from([0x61, 0x80, 0x61]), /^byte 1 \(0x80\) is not UTF-8/],
    [
      "UTF-16 that is none",
      Buffer.from([0xff, 0xfe, 0x00, 0xd8, 0x41, 0x00]),
      /^byte 0 means UTF-16LE, and what follows/,
    ],
    ["UTF-32", Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0]), /^byte 0: it is UTF-32/],
  ])("is none in %s, with the byte and what to do", (_, bytes, problem) => {
    expect(decodeText(bytes)).toEqual({ problem: expect.stringMatching(problem) });
  });
});
