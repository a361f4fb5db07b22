// Copies what the package has from the repository: the license, and the schemas of files that users write.
import { cpSync, mkdirSync } from "node:fs";

const top = new URL("../../", import.meta.url);
const here = new URL("./", import.meta.url);
mkdirSync(new URL("dist/schemas/", here), { recursive: true });
for (const kind of ["intent", "config"]) {
  cpSync(new URL(`schemas/${kind}.schema.json`, top), new URL(`dist/schemas/${kind}.schema.json`, here));
}
cpSync(new URL("LICENSE", top), new URL("LICENSE", here));
