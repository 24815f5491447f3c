import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import pino from "pino";
import { afterAll, describe, expect, it } from "vitest";
import { serveFront } from "../../../lib/cli/server/serve-front.ts";
import { settingsFromEnvironment } from "../../../lib/cli/server/serve-settings.ts";

const folder = mkdtempSync(join(tmpdir(), "portolan-front-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** What a front logs while it starts. */
async function logged(isEnding: boolean): Promise<readonly unknown[]> {
  const said: unknown[] = [];
  const stream = new Writable({
    write(line, _encoding, done) {
      said.push(JSON.parse(String(line)).msg);
      done();
    },
  });
  const settings = settingsFromEnvironment({ PORT: "0", PORTOLAN_WORKERS: "1", PORTOLAN_STORE: join(folder, "store") });
  const front = await serveFront(settings, pino(stream), () => isEnding);
  await front.close();
  return said;
}

describe("serveFront", () => {
  it("says that it serves, and not where it is told to end while it starts", async () => {
    expect(await logged(false)).toContain("serving");
    expect(await logged(true)).not.toContain("serving");
  });
});
