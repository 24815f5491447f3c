import { describe, expect, it } from "vitest";
import { createReadAhead } from "../../../../lib/config/folder/files/read-ahead.ts";
import { emptyFolder, folderOf } from "../../../../lib/config/folder/last-valid.ts";
import { wholeFolder } from "../../../../lib/config/folder/whole-folder.ts";

const service = (name: string): string =>
  JSON.stringify({ apiVersion: "v1", kind: "Service", metadata: { name, namespace: "a" }, spec: { ports: [] } });

const files = [
  { file: "a.yaml", text: service("a") },
  { file: "broken.yaml", text: "kind: [" },
  { file: "mesh.yaml", text: "trustDomain: example.org" },
];

const readAhead = () => {
  const ahead = createReadAhead();
  for (const file of files) ahead.read(file);
  const before = ahead.take();
  const texts = { files: [...files, { file: "late.yaml", text: service("late") }], kept: [] };
  return { before, after: folderOf(texts, before), ahead };
};

describe("a folder that was read ahead", () => {
  it("says what it says otherwise, and reads nothing again", () => {
    const { before, after } = readAhead();
    const alone = folderOf({ files: [...after.files()].map(([file, { text }]) => ({ file, text })), kept: [] });
    expect(wholeFolder(after)).toEqual(wholeFolder(alone));
    for (const { file } of files) expect(after.files().get(file)?.read()).toBe(before.files().get(file)?.read());
  });

  it("reads a file that is another by now", () => {
    const { before } = readAhead();
    const after = folderOf({ files: [{ file: "a.yaml", text: service("b") }], kept: [] }, before);
    const alone = folderOf({ files: [{ file: "a.yaml", text: service("b") }], kept: [] }, emptyFolder(""));
    expect(wholeFolder(after)).toEqual(wholeFolder(alone));
  });

  it("is given once, and nothing is read after that", () => {
    const { ahead } = readAhead();
    for (const file of files) ahead.read(file);
    expect(ahead.take().files().size).toBe(0);
  });
});
