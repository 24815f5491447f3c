/** `node test/config/crd/write-digest.ts <CustomResourceDefinitions>`: writes `fields.txt` anew. */
import { readFileSync, writeFileSync } from "node:fs";
import { loadAll } from "js-yaml";
import { type Crd, kindFields, writeDigest } from "./field-digest.ts";

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error("name the file of Istio's CustomResourceDefinitions");
const crds = loadAll(readFileSync(file, "utf8")).filter((crd): crd is Crd => crd !== null && crd !== undefined);
writeFileSync(new URL("fields.txt", import.meta.url), writeDigest(crds.map(kindFields)));
