/**
 * `node test/config/gateway-api/definitions/write-digest.ts <folder> <release>`: writes `fields-<release>.txt` from the experimental
 * CustomResourceDefinitions of a release; `npm run test:servers` puts those of one into `.cache/servers/gateway-api-<version>`.
 */
import { writeFileSync } from "node:fs";
import { writeDefinitions } from "./definition-digest.ts";
import { definitionsIn } from "./definitions-in.ts";

const [folder, release] = process.argv.slice(2);
if (folder === undefined || release === undefined)
  throw new Error("name the folder with the Gateway API's CustomResourceDefinitions, and their release, such as 1.6");
writeFileSync(new URL(`fields-${release}.txt`, import.meta.url), writeDefinitions(definitionsIn(folder)));
