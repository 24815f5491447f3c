/** The compile function of `serve` as a process of its own, to be killed: `node compile-function-process.ts <folder> <settings>`. Writes its address. */
import pino from "pino";
import { startCompileFunction } from "../../../lib/cli/serve/compile-function.ts";
import { noObserver } from "../../../lib/compile/telemetry/observer.ts";
import { readSettings } from "../../../lib/settings/read-settings.ts";
import { openStore } from "../../../lib/storage/open-store.ts";

const [where = "", text = ""] = process.argv.slice(2);
const { value: settings, diagnostics } = readSettings(text, "portolan.yaml");
if (settings === undefined) throw new Error(JSON.stringify(diagnostics));
const store = await openStore(where, {});
const log = pino({ level: "silent" });
const { url } = await startCompileFunction({ store, where, settings, ownSecret: "own", log, observer: noObserver });
process.stdout.write(`${url}\n`);
