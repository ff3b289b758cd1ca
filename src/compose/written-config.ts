import type { AssistantConfig } from "../assistant/generated/config.js";
import type { CodeConfig } from "../code/generated/config.js";
import type { EngineConfig } from "../engine/generated/config.js";
import type { ResearchConfig } from "../research/generated/config.js";
import type { TaskConfig } from "../task/generated/config.js";

/**
 * The content of ralph.config.yaml or ralph.config.json. It has its own file, because it is one of the package's public
 * types.
 */
export type WrittenConfig = EngineConfig & ResearchConfig & TaskConfig & CodeConfig & AssistantConfig;
