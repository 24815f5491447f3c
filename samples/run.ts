/** `npm run sample -- NAME`: a sample's servers, Portolan and an Envoy together, until Ctrl-C. */
import { existsSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { commandsOf, startSample } from "../test/e2e/sample.ts";

const [name = "bookshop"] = process.argv.slice(2);
const folder = join(import.meta.dirname, name);

/** What `portolan dev` has done: each publish, each fault of what was saved, and what an Envoy refuses. */
function tell(event: Readonly<Record<string, unknown>>): void {
  const { event: kind, generation, diagnostics, reason } = event;
  if (kind === "failed") console.error(`failed    ${reason}`);
  if (kind === "refused") console.error(`refused   ${event.nodeId}: ${event.error ?? "see its log for the reason"}`);
  if (generation === undefined) return;
  console.log(`${String(kind).padEnd(10)}generation ${generation}`);
  if (!Array.isArray(diagnostics)) return;
  for (const { severity, origin, message, hint } of diagnostics.filter(({ severity: one }) => one === "error"))
    console.error(`${severity}     ${origin.file}:${origin.line} ${message}${hint === "" ? "" : `; ${hint}`}`);
}

async function run(): Promise<void> {
  const sample = await startSample(folder, { onEvent: tell });
  console.log(`servers   ${sample.servers.map((one) => `${one.name} ${one.address}:${one.port}`).join(", ")}`);
  console.log(`portolan  ${sample.url}, watching ${relative(process.cwd(), folder)}: edit a file there`);
  console.log(`envoy     ${sample.proxies.join(", ")}`);
  console.log(`\nTry it, in another terminal (what comes back stands behind #):\n`);
  for (const command of await commandsOf(folder)) console.log(`  ${command}`);
  console.log("\nCtrl-C stops all of it.");
  await new Promise<void>((stop) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop());
  });
  await sample.close();
}

if (existsSync(join(folder, "README.md"))) {
  await run().catch((cause: unknown) => {
    console.error(`sample: ${cause instanceof Error ? cause.message : String(cause)}`);
    process.exitCode = 1;
  });
} else {
  const known = readdirSync(import.meta.dirname).filter((entry) =>
    existsSync(join(import.meta.dirname, entry, "README.md")),
  );
  console.error(`there is no sample ${name}; there are: ${known.join(", ")}`);
  process.exitCode = 2;
}
