import { describe, expect, it } from "vitest";
import { readSlicing } from "../../../lib/compile/slices/slice-settings.ts";

describe("readSlicing", () => {
  it.each([
    { settings: {}, workers: 1, slices: 1 },
    { settings: { COMPILE_WORKERS: "2" }, workers: 2, slices: 1 },
    { settings: { COMPILE_WORKERS: "2", COMPILE_SLICES: "2" }, workers: 2, slices: 2 },
    { settings: { COMPILE_WORKERS: "2", COMPILE_SLICE_MEMORY_MIB: "128" }, workers: 2, slices: 2 },
    { settings: { COMPILE_WORKERS: "4" }, workers: 4, slices: 4 },
    { settings: { COMPILE_SLICES: "16" }, workers: 1, slices: 16 },
  ])("cuts into $slices for $settings", ({ settings, workers, slices }) => {
    expect(readSlicing(settings)).toMatchObject({ workers, slices });
  });
});
