#!/usr/bin/env node
import { runCli } from "../lib/cli/program.ts";
import { processTerminal } from "../lib/cli/terminal.ts";

process.exitCode = await runCli(process.argv, processTerminal());
