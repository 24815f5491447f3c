import { memoryStore } from "../../lib/storage/memory.ts";
import { storeContract } from "./contract.ts";

storeContract("memory", async () => ({ store: memoryStore(), close: async () => {} }));
