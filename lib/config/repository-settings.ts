import { z } from "zod";
import { leadsToLoopback } from "../base/loopback.ts";
import { sourceNameForm, sourceNameRule } from "./setting-values.ts";

/** Whether no part of a path is empty, or leads out of it. */
const isPath = (path: string): boolean => path.split("/").every((part) => part !== "" && part !== "." && part !== "..");

const repositoryName = z
  .string()
  .max(255, "must have at most 255 characters")
  .regex(/^[\w.-]+(?:\/[\w.-]+)+$/, "must be the repository's path at its host, as in shop/mesh")
  .refine(isPath, "must be the repository's path at its host, as in shop/mesh");

const branchName = z
  .string()
  .max(255, "must have at most 255 characters")
  // biome-ignore lint/suspicious/noControlCharactersInRegex: Git refuses these in a branch's name, too.
  .regex(/^[^\x00-\x20\x7f~^:?*[\\]+$/, "must be a branch's name, as in main");

const folder = z
  .string()
  .max(1_024, "must have at most 1024 characters")
  .refine(isPath, "must be a folder of the repository without a slash at its ends, as in mesh/prod");

const api = z
  .string()
  .refine((text) => URL.canParse(text), "must be the address of the host's API, as in https://git.example.com/api/v4")
  .refine((text) => {
    if (!URL.canParse(text)) return true;
    const url = new URL(text);
    return url.protocol === "https:" || (url.protocol === "http:" && leadsToLoopback(url));
  }, "must begin with https://; a token is sent there")
  .refine((text) => {
    if (!URL.canParse(text)) return true;
    const { username, password, search, hash } = new URL(text);
    return username + password + search + hash === "";
  }, "must have neither a user nor a query; the token is a setting of its own");

/** The repository that a source is filled from when its host sends a push event. */
const repositorySchema = z.strictObject({
  host: z.enum(["github", "gitlab"]),
  repository: repositoryName,
  branch: z.exactOptional(branchName),
  path: z.exactOptional(folder),
  api: z.exactOptional(api),
});

export const repositoriesSchema = z.record(
  z.string().regex(sourceNameForm, `must be ${sourceNameRule}`),
  repositorySchema,
);

/** One repository, in a settings file and in the environment. */
export type RepositorySettings = z.infer<typeof repositorySchema>;
