/**
 * One process of the benchmark `limits`: `node limits-child.ts <services> <folder of the store> first|change|warm` is a compile function that
 * starts cold and gets a signed push, and prints a line of JSON. `change` pushes one changed VirtualService to a store whose lists vouch
 * for what is in it, as those of S3 and R2 do: its requests count, its CPU does not, since this process makes the vouchers. `warm` pushes
 * another one and more after it to the store as it is: its CPU counts.
 */
import { parseArgs } from "node:util";
import { createLeasedCompiler } from "../../lib/compile/triggers/leased-compiler.ts";
import { usualPace } from "../../lib/compile/triggers/pace.ts";
import { webhookApp } from "../../lib/compile/webhook/app.ts";
import { signRequest } from "../../lib/compile/webhook/signature.ts";
import { noSecrets } from "../../lib/compile/webhook/webhook-secrets.ts";
import { defaultWorldOptions } from "../../lib/compile/world/world-of.ts";
import type { SourceFile } from "../../lib/config/folder/directory.ts";
import { fileStore } from "../../lib/storage/files/files.ts";
import { countingStore } from "../storage/counting-store.ts";
import { editedFiles, folderEdits } from "./folder-edits.ts";
import type { PushRow } from "./limits.bench.ts";
import { foldersFiles } from "./mesh-folder.ts";
import { slowStore } from "./slow-store.ts";
import { syntheticMesh } from "./synthetic-mesh.ts";
import { median } from "./yardstick.ts";

/** Changes in one process; the first of them are V8's. */
const rounds = 15;
const roundsBefore = 6;

const secret = "a-shared-secret";
const [size = "10", folder = "", work = "first"] = parseArgs({ allowPositionals: true }).positionals;
const files = foldersFiles(syntheticMesh(Number(size)).text);
const disk = fileStore(folder);
const { store, counts } = countingStore(work === "change" ? slowStore(disk, async () => {}).store : disk);
const sources = ["main"];
const recompile = createLeasedCompiler({
  store,
  sources,
  world: defaultWorldOptions,
  // As in a Worker or a Lambda function: what an earlier process has compiled is taken from the store.
  build: "that of the benchmark",
  pace: { ...usualPace, quietMs: 0 },
  writesPacks: true,
  onError: (cause) => console.error(String(cause)),
});
const app = webhookApp({ store, recompile, sources, secrets: { ...noSecrets, operators: [secret] } });

/** @throws with the answer, for a push that is not published */
async function push(files: readonly SourceFile[]): Promise<Omit<PushRow, "warmCpuMs" | "rssMib">> {
  const body = JSON.stringify({ files });
  const signed = { method: "POST", target: "/sources/main", body: new TextEncoder().encode(body) };
  const headers = { ...(await signRequest(secret, signed, crypto.randomUUID(), Date.now())) };
  Object.assign(counts, { reads: 0, writes: 0, lists: 0 });
  const before = process.cpuUsage();
  const response = await app.request("http://compile/sources/main", { method: "POST", headers, body });
  const { user, system } = process.cpuUsage(before);
  if (response.status !== 200) throw new Error(`${response.status}: ${(await response.text()).slice(0, 500)}`);
  return { cpuMs: Math.round((user + system) / 1_000), ...counts };
}

const changed = (round: number) => editedFiles(files, "app-0", (text) => folderEdits["virtual-service"](text, round));
const row = await push(work === "first" ? files : changed(work === "change" ? 80 : 90));
const warm: number[] = [];
if (work === "warm") for (let round = 0; round < rounds; round += 1) warm.push((await push(changed(round))).cpuMs);
const warmCpuMs = median(warm.slice(roundsBefore));
const rssMib = Math.round(process.resourceUsage().maxRSS / 1_024);
console.log(JSON.stringify({ ...row, warmCpuMs, rssMib } satisfies PushRow));
