/**
 * What the REST v1 API adds to a compile of everything: the same mesh from files to a published root without it and with it, in processes of
 * their own, one after the other.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CompileRow, rowsOf } from "./compile-rows.ts";
import type { BenchOptions, Row } from "./report.ts";

export async function v1Bench({ report, services, quick }: BenchOptions): Promise<void> {
  const top = mkdtempSync(join(tmpdir(), "portolan-bench-"));
  try {
    const rows = (quick ? services.slice(0, 1) : services).flatMap((size): readonly Row[] => {
      const measured = (name: string, work: string): CompileRow => {
        const [row] = rowsOf(size, { folder: join(top, `${name}-${size}`), works: [work] });
        if (row === undefined) throw new Error(`${work} of ${size} services printed nothing`);
        return row;
      };
      const without = measured("v3", "everything");
      const withV1 = measured("v1", "everything-v1");
      const ratio = (of: (row: CompileRow) => number): number => of(withV1) / of(without);
      return [
        rowFor("v3", without),
        rowFor("v3 and v1", withV1),
        {
          services: size,
          answers: "times",
          CPU: ratio(({ cpuMs }) => cpuMs),
          ms: ratio(({ ms }) => ms),
          KiB: ratio(({ kib }) => kib),
          "peak RSS MiB": ratio(({ rssMib }) => rssMib),
          objects: ratio(({ objects }) => objects),
        },
      ];
    });
    report.table("Everything, from files to a published root, without the v1 API and with it", rows);
  } finally {
    rmSync(top, { recursive: true });
  }
}

const rowFor = (answers: string, { services, cpuMs, ms, kib, rssMib, objects }: CompileRow): Row => ({
  services,
  answers,
  CPU: cpuMs,
  ms,
  KiB: kib,
  "peak RSS MiB": rssMib,
  objects,
});
