import type { SourceFile } from "../../lib/config/folder/directory.ts";

/** A folder as teams keep it: a file for each service, with its pods and its routing. @param text JSON documents, as `syntheticMesh` has them */
export const foldersFiles = (text: string): readonly SourceFile[] =>
  [
    ...Map.groupBy(text.split("\n---\n"), (document) => {
      const { metadata }: { readonly metadata: { readonly name: string } } = JSON.parse(document);
      return /^app-\d+/.exec(metadata.name)?.[0] ?? "others";
    }),
  ].map(([app, documents]) => ({ file: `${app}.yaml`, text: `${documents.join("\n---\n")}\n` }));
