#!/usr/bin/env node
import { patience } from "../lib/cli/patience.ts";
import { runCli } from "../lib/cli/program.ts";
import { processTerminal } from "../lib/cli/terminal.ts";

const isOver = patience(process.argv, process.stderr.isTTY);
process.exitCode = await runCli(process.argv, processTerminal(isOver));
isOver();
