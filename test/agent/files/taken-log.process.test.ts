import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openTakenLog, type TakenTexts } from "../../../lib/agent/files/taken-log.ts";
import { mountSmallDisk } from "../../small-disk.ts";

const texts = (
  clusters: Readonly<Record<string, string>>,
  routes: Readonly<Record<string, string>> = {},
): TakenTexts => ({
  clusters: new Map(Object.entries(clusters)),
  endpoints: new Map(),
  listeners: new Map(),
  routes: new Map(Object.entries(routes)),
});
const plain = ({ clusters, routes }: TakenTexts) => [Object.fromEntries(clusters), Object.fromEntries(routes)];

describe("the log of what Envoy has taken", () => {
  let root: string;
  let path: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "portolan-taken-"));
    path = join(root, "taken.log");
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  it("gives back what was kept, whatever resources are called, and writes no more than what differs", async () => {
    const { log } = await openTakenLog(path);
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`c ${at}\n|ä`, `{"name":"c ${at}"}`]));
    await log.keep(texts(many, { 80: "{}" }));
    const before = (await stat(path)).size;
    await log.keep(texts({ ...many, one: '{"more":1}' }));
    expect((await stat(path)).size - before).toBeLessThan(200);
    const again = await openTakenLog(path);
    expect(again.damaged).toBe(0);
    expect(plain(again.log.texts)).toEqual([{ ...many, one: '{"more":1}' }, {}]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it("leaves out a change that was written in part, be it one line of many", async () => {
    const { log } = await openTakenLog(path);
    await log.keep(texts({ a: "1", b: "1" }));
    const first = (await readFile(path, "utf8")).length;
    await log.keep(texts({ a: "2", b: "2" }));
    const whole = await readFile(path, "utf8");
    for (let length = first + 1; length < whole.length; length += 1) {
      await writeFile(path, whole.slice(0, length));
      const { log: cut, damaged } = await openTakenLog(path);
      expect([plain(cut.texts)[0], damaged > 0]).toEqual([{ a: "1", b: "1" }, true]);
    }
  });

  it("has what was taken before of a line that is not what was written", async () => {
    const { log } = await openTakenLog(path);
    await log.keep(texts({ a: "1", b: "1" }));
    await log.keep(texts({ a: "2", b: "2" }));
    const whole = await readFile(path, "utf8");
    await writeFile(path, whole.replace("clusters a 2", "clusters a 9"));
    const { log: damagedLog, damaged } = await openTakenLog(path);
    expect([plain(damagedLog.texts)[0], damaged]).toEqual([{ a: "1", b: "2" }, 1]);
    // It is written anew with the next change, or without one.
    await damagedLog.keep(damagedLog.texts);
    expect((await openTakenLog(path)).damaged).toBe(0);
  });

  it("is not taken for absent when it is there and cannot be read", async () => {
    await mkdir(path);
    await expect(openTakenLog(path)).rejects.toThrow(`cannot read ${path}: it is a folder, and a file is wanted`);
  });

  it("does not grow without end", async () => {
    const { log } = await openTakenLog(path);
    const long = (at: number) => `${at}${"x".repeat(100_000)}`;
    for (let at = 0; at < 60; at += 1) await log.keep(texts({ a: long(at) }));
    expect((await stat(path)).size).toBeLessThan(1_500_000);
    expect(plain((await openTakenLog(path)).log.texts)[0]).toEqual({ a: long(59) });
  });

  it("loses nothing on a disk that is full, and says so", async (context) => {
    mountSmallDisk(context, root, "64k");
    try {
      const { log } = await openTakenLog(path);
      await log.keep(texts({ a: "1" }));
      await expect(log.keep(texts({ a: "1", b: "x".repeat(200_000) }))).rejects.toThrow(/the disk is full/);
      expect(plain((await openTakenLog(path)).log.texts)[0]).toEqual({ a: "1" });
      await log.keep(texts({ a: "2" }));
      const { log: again, damaged } = await openTakenLog(path);
      expect([plain(again.texts)[0], damaged]).toEqual([{ a: "2" }, 0]);
    } finally {
      execFileSync("umount", [root]);
    }
  });
});
