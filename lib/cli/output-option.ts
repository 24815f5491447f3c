import { Option } from "commander";

/** `--json`, for commands that have `-o`: programs write the same for all. */
export const jsonOption = (): Option => new Option("--json", "the same as -o json").implies({ output: "json" });
