//! Which dialect a model speaks, by the id that an API, a hub or a quantiser knows it by.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use del_dialects::Dialects;

/// Ids as they are met, and the dialect; nothing where `auto` has to find out.
const MODELS: &[(&str, &[&str])] = &[
    (
        "hermes-json",
        &[
            "NousResearch/Hermes-2-Pro-Llama-3-8B",
            "NousResearch/Hermes-3-Llama-3.1-8B",
            "Qwen/Qwen2.5-7B-Instruct",
            "Qwen/Qwen2.5-Coder-32B-Instruct",
            "qwen2.5-coder:1.5b",
            "Qwen/QwQ-32B",
            "qwen3:8b",
            "mlx-community/Qwen3-8B-4bit",
            "unsloth/Qwen3-30B-A3B-Instruct-2507-GGUF",
            "qwen/qwen3-235b-a22b-thinking-2507",
            "Qwen/Qwen3-VL-8B-Instruct",
            "XiaomiMiMo/MiMo-VL-7B-RL",
            "speakleash/Bielik-11B-v3.0-Instruct",
            "HuggingFaceTB/SmolLM2-1.7B-Instruct",
        ],
    ),
    (
        "qwen3-coder",
        &[
            "qwen3-coder:30b",
            "Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8",
            "qwen/qwen3-coder-next",
            "Qwen/Qwen3.5-397B-A17B",
            "qwen3.6:27b",
            "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16",
            "ibm-granite/granite-4.2-h-small",
        ],
    ),
    (
        "deepseek-v3",
        &["deepseek-ai/DeepSeek-V3-0324", "deepseek-r1:671b", "deepseek/deepseek-r1-0528:free", "cogito:70b"],
    ),
    (
        "deepseek-v31",
        &[
            "deepseek/deepseek-chat-v3.1:free",
            "deepseek-ai/DeepSeek-V3.1-Terminus",
            "deepseek-v3.1:671b-cloud",
            "deepseek-ai/DeepSeek-V3.2-Exp",
        ],
    ),
    ("dsml-v32", &["deepseek-ai/DeepSeek-V3.2", "deepseek/deepseek-v3.2-speciale"]),
    ("dsml-v4", &["deepseek-ai/DeepSeek-V4-Pro", "deepseek/deepseek-v4-flash"]),
    ("dsml-v41", &["deepseek-ai/DeepSeek-V4.1"]),
    ("harmony", &["gpt-oss:20b", "openai/gpt-oss-120b", "lmstudio-community/gpt-oss-20b-GGUF"]),
    (
        "kimi-k2",
        &[
            "moonshotai/Kimi-K2-Instruct-0905",
            "kimi-k2:1t-cloud",
            "moonshotai/kimi-k2-thinking",
            "moonshotai/Kimi-K2.5",
        ],
    ),
    ("kimi-k3", &["moonshotai/Kimi-K3"]),
    ("glm45", &["zai-org/GLM-4.5-Air", "z-ai/glm-4.6", "glm-4.6:cloud"]),
    ("glm47", &["zai-org/GLM-4.7-Flash", "z-ai/glm-5", "zai-org/GLM-5.1-FP8"]),
    ("minimax-m1", &["MiniMaxAI/MiniMax-M1-80k"]),
    ("minimax-m2", &["MiniMaxAI/MiniMax-M2", "minimax/minimax-m2.1", "minimax-m2:cloud"]),
    ("minimax-m3", &["MiniMaxAI/MiniMax-M3"]),
    (
        "mistral-json",
        &[
            "mistralai/Mistral-7B-Instruct-v0.3",
            "mistral:7b",
            "mistral-nemo:12b",
            "mistralai/Mistral-Small-3.1-24B-Instruct-2503",
            "mistralai/Mixtral-8x7B-Instruct-v0.1",
            "mistralai/Ministral-8B-Instruct-2410",
            "mistralai/Mistral-Large-Instruct-2411",
        ],
    ),
    (
        "mistral-args",
        &[
            "mistralai/Devstral-Small-2507",
            "devstral:24b",
            "mistralai/Magistral-Small-2509",
            "mistralai/Mistral-Small-3.2-24B-Instruct-2506",
            "mistral-small3.2:24b",
            "mistralai/Ministral-3-8B-Instruct-2512",
            "ministral-3:8b",
            "mistralai/Mistral-Large-3-675B-Instruct-2512",
        ],
    ),
    (
        "llama3-json",
        &[
            "meta-llama/Llama-3.1-8B-Instruct",
            "llama3.1:8b",
            "llama3.2:3b",
            "meta-llama/llama-3.3-70b-instruct:free",
        ],
    ),
    ("llama4-pythonic", &["meta-llama/Llama-4-Scout-17B-16E-Instruct", "llama4:scout"]),
    ("pythonic", &["Team-ACE/ToolACE-2-Llama-3.1-8B", "google/gemma-3-27b-it", "gemma3:4b"]),
    ("gemma4", &["google/gemma-4-31b-it", "gemma4:e4b"]),
    ("functiongemma", &["google/functiongemma-270m-it", "functiongemma:270m"]),
    ("granite3", &["ibm-granite/granite-3.3-8b-instruct", "granite3.3:8b", "granite3.1-dense:8b"]),
    ("granite4", &["ibm-granite/granite-4.0-h-small", "granite4:tiny-h"]),
    ("granite-20b-fc", &["ibm-granite/granite-20b-functioncalling"]),
    ("lfm2", &["LiquidAI/LFM2-1.2B", "LiquidAI/LFM2.5-8B-A1B"]),
    ("olmo3", &["allenai/Olmo-3-7B-Think", "olmo-3:32b"]),
    (
        "cohere-action",
        &[
            "CohereLabs/c4ai-command-r7b-12-2024",
            "command-r7b:7b",
            "CohereLabs/command-a-reasoning-08-2025",
            "command-a:111b",
        ],
    ),
    (
        "command-r-plus",
        &["CohereLabs/c4ai-command-r-plus-08-2024", "command-r:35b", "CohereForAI/c4ai-command-r-v01"],
    ),
    ("seed-oss", &["ByteDance-Seed/Seed-OSS-36B-Instruct"]),
    ("mimo-xml", &["XiaomiMiMo/MiMo-V2-Flash"]),
    ("step3p5", &["stepfun-ai/Step-3.5-Flash"]),
    ("step3", &["stepfun-ai/step3"]),
    ("step-audio2", &["stepfun-ai/Step-Audio-2-mini", "stepfun-ai/Step-Audio-2-mini-Think"]),
    ("telechat4", &["XingChen-AGI/Xing4.0-29B-A4B", "Tele-AI/TeleChat4"]),
    ("use-mcp-tool", &["miromind-ai/MiroThinker-v1.0-8B"]),
    ("nova", &["amazon.nova-2-lite-v1:0", "us.amazon.nova-pro-v1:0", "amazon/nova-lite-v1"]),
    ("glm4", &["THUDM/glm-4-9b-chat", "zai-org/GLM-4-32B-0414", "THUDM/GLM-Z1-32B-0414"]),
    ("grok", &["x-ai/grok-4", "xai-org/grok-2"]),
    ("minicpm3", &["openbmb/MiniCPM3-4B", "openbmb/MiniCPM4-8B", "minicpm4:8b"]),
    ("hunyuan-a13b", &["tencent/Hunyuan-A13B-Instruct"]),
    ("hunyuan-v3", &["tencent/Hy3-preview"]),
    ("hunyuan-v4", &["tencent/Hy4"]),
    ("ernie45", &["baidu/ERNIE-4.5-21B-A3B-Thinking"]),
    ("longcat", &["meituan-longcat/LongCat-Flash-Chat"]),
    ("jamba", &["ai21labs/AI21-Jamba-1.5-Mini", "ai21labs/AI21-Jamba-Large-1.7"]),
    ("apriel", &["ServiceNow-AI/Apriel-1.5-15b-Thinker"]),
    ("nemotron-toolcall", &["nvidia/NVIDIA-Nemotron-Nano-9B-v2", "nvidia/Llama-3_1-Nemotron-Ultra-253B-v1"]),
    ("functools", &["microsoft/Phi-4-mini-instruct", "phi4-mini:3.8b", "firefunction-v2:70b"]),
    ("xlam", &["Salesforce/Llama-xLAM-2-8b-fc-r"]),
    ("internlm", &["internlm/internlm2_5-7b-chat", "internlm/Intern-S1"]),
    ("apertus", &["swiss-ai/Apertus-8B-Instruct-2509"]),
    ("trinity", &["arcee-ai/Trinity-Mini"]),
    ("exaone4", &["LGAI-EXAONE/EXAONE-4.0-32B"]),
    ("poolside-v1", &["poolside/Laguna-XS.2"]),
    ("gigachat3", &["ai-sage/GigaChat3-10B-A1.8B"]),
    ("gigachat35-gcml", &["ai-sage/GigaChat-3.5"]),
    ("sarashina", &["sbintuitions/sarashina2.2-3b-instruct-v0.1"]),
    ("solar-open", &["upstage/Solar-Open-100B"]),
    ("solar-open2", &["upstage/Solar-Open2-250B", "solar-open-2:250b"]),
    ("cwm", &["facebook/cwm", "facebook/cwm-sft", "cwm:32b"]),
    ("openpangu", &["FreedomIntelligence/openPangu-Embedded-7B", "openPangu-2.0-Flash"]),
    ("plamo3", &["pfnet/plamo-3-nict-31b-base"]),
    ("minicpm5", &["openbmb/MiniCPM5-8B"]),
    ("dots", &["rednote-hilab/dots.llm1.inst"]),
    ("functionary-v32", &["meetkai/functionary-medium-v3.2"]),
    ("llama-function", &["meetkai/functionary-small-v3.1"]),
    ("", &["gpt-4o-mini", "claude-sonnet-4", "example/some-model-7b", ""]),
];

#[test]
fn ids_lead_to_dialects() {
    let mut wrong = Vec::new();
    for (dialect, ids) in MODELS {
        for id in *ids {
            let got = Dialects::builtin().for_model(id).map_or("", |dialect| dialect.name());
            if got != *dialect {
                wrong.push(format!("{id}: expected {dialect:?}, got {got:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
