import { describe, expect, it } from "vitest";
import { settingsFromEnvironment } from "../../../lib/cli/server/serve-settings.ts";

const GiB = 1024 ** 3;
const machine = { cores: 16, memoryBytes: 64 * GiB };

describe("settingsFromEnvironment", () => {
  it("serves on loopback from every core where nothing is said", () => {
    expect(settingsFromEnvironment({}, machine)).toMatchObject({
      store: ".portolan/store",
      host: "127.0.0.1",
      port: 8080,
      grpcPort: undefined,
      maxHoldMs: 25_000,
      workers: 16,
      sharesCdsAcks: false,
    });
  });

  it.each([
    { cores: 16, memoryBytes: GiB / 2, workers: 2 },
    { cores: 16, memoryBytes: GiB / 8, workers: 1 },
    { cores: 1, memoryBytes: 64 * GiB, workers: 1 },
  ])("runs $workers processes on $cores cores with $memoryBytes bytes", ({ workers, ...other }) => {
    expect(settingsFromEnvironment({}, other).workers).toBe(workers);
    expect(settingsFromEnvironment({ PORTOLAN_WORKERS: "3" }, other).workers).toBe(3);
  });

  it.each([
    ["PORT", "http"],
    ["PORT", "65536"],
    ["PORTOLAN_GRPC_PORT", "-1"],
    ["PORTOLAN_MAX_HOLD_MS", "1.5"],
    ["PORTOLAN_WORKERS", "0"],
    ["PORTOLAN_WORKERS", "257"],
  ])("says that %s is not %s", (name, text) => {
    expect(() => settingsFromEnvironment({ [name]: text }, machine)).toThrow(
      `${name} is "${text}"; it is a whole number`,
    );
  });
});
