/** `npm run attack -- [--requests N] [--seed N] [--minutes N] [--json]`: attacks a server and says how it held. */
import { parseArgs } from "node:util";
import Table from "cli-table3";
import { attack } from "./attack.ts";

const { values } = parseArgs({
  options: {
    requests: { type: "string", default: "120000" },
    seed: { type: "string", default: "1" },
    minutes: { type: "string", default: "30" },
    json: { type: "boolean", default: false },
  },
});
const [requests, seed, minutes] = [values.requests, values.seed, values.minutes].map(Number);
if ([requests, seed, minutes].some((value) => !Number.isFinite(value))) {
  console.error("attack: --requests, --seed and --minutes are numbers");
  process.exit(2);
}

const report = await attack({
  requests: requests ?? 0,
  seed: seed ?? 0,
  maxMs: (minutes ?? 0) * 60_000,
  maxGrowthMb: 50,
  ...(values.json ? {} : { onProgress: (line: string) => console.error(line) }),
});

if (values.json) console.log(JSON.stringify(report));
else {
  const table = new Table({ head: ["", "", "requests", "how they ended"], style: { head: [], border: [] } });
  for (const { transport, name, requests: sent, ends } of report.classes) {
    const counts = Object.entries(ends).map(([end, count]) => `${end} × ${count}`);
    table.push([transport, name, sent, counts.join(", ")]);
  }
  console.log(table.toString());
  console.log(`${report.requests} requests in ${report.seconds} s, seed ${values.seed}`);
  for (const [name, { warm, peak, end, warmHeld, endHeld }] of Object.entries(report.memory)) {
    console.log(`memory of the ${name}: ${warm} MB warm, ${peak} MB at most, ${end} MB at the end`);
    console.log(`  of which something holds ${warmHeld} MB, ${endHeld} MB at the end`);
  }
  for (const [when, { polls, p50, p99 }] of [
    ["alone", report.quiet],
    ["meanwhile", report.attacked],
  ] as const) {
    console.log(`a normal client, ${when}: p50 ${p50} ms, p99 ${p99} ms of ${polls} polls`);
  }
  for (const failure of report.failures) console.log(`FAILED: ${failure}`);
}
process.exitCode = report.failures.length === 0 ? 0 : 1;
