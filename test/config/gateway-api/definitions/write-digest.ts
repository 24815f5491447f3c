/**
 * `node test/config/gateway-api/definitions/write-digest.ts <folder>`: writes `fields.txt` anew from the CustomResourceDefinitions of a
 * release, which `npm run test:servers` puts into `.cache/servers/gateway-api-<version>`.
 */
import { writeFileSync } from "node:fs";
import { writeDefinitions } from "./definition-digest.ts";
import { definitionsIn } from "./definitions-in.ts";

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("name the folder with the Gateway API's CustomResourceDefinitions");
writeFileSync(new URL("fields.txt", import.meta.url), writeDefinitions(definitionsIn(folder)));
