use super::*;

fn figures(agent: Agent, record: &str) -> (u64, u64, u64, u64) {
    let spent = spent(agent, record).unwrap();
    assert!(spent.counted);
    (
        spent.input,
        spent.cache_read,
        spent.cache_write,
        spent.output,
    )
}

#[test]
fn each_agents_figures() {
    let claude = r#"{"type":"assistant","message":{"id":"msg_1","model":"m","usage":{"input_tokens":10,"cache_creation_input_tokens":200,"cache_read_input_tokens":3000,"output_tokens":6}},"costUSD":0.25}"#;
    assert_eq!(figures(Agent::ClaudeCode, claude), (10, 3000, 200, 6));
    let told = spent(Agent::ClaudeCode, claude).unwrap();
    assert_eq!(
        (told.message.as_deref(), told.cost),
        (Some("msg_1"), Some(0.25))
    );

    let codex = r#"{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"total_tokens":116},"last_token_usage":{"input_tokens":100,"cached_input_tokens":64,"output_tokens":16,"reasoning_output_tokens":8,"total_tokens":116},"model_context_window":258400}}}"#;
    assert_eq!(figures(Agent::Codex, codex), (36, 64, 0, 16));
    assert_eq!(spent(Agent::Codex, codex).unwrap().window, Some(258_400));
    assert_eq!(
        spent(
            Agent::Codex,
            r#"{"payload":{"type":"token_count","info":null}}"#
        ),
        None
    );
    let turn = spent(Agent::Codex, r#"{"payload":{"model":"gpt-5"}}"#).unwrap();
    assert!(turn.model.as_deref() == Some("gpt-5") && !turn.counted);

    let gemini = r#"{"id":"m","type":"gemini","model":"g","tokens":{"input":12207,"output":105,"cached":2558,"thoughts":153,"tool":0,"total":12465}}"#;
    assert_eq!(figures(Agent::GeminiLines, gemini), (9649, 2558, 0, 258));
    let pi = r#"{"id":"ab","message":{"model":"p","usage":{"input":12,"output":7,"cacheRead":3,"cacheWrite":1,"cost":{"total":0.5}}}}"#;
    assert_eq!(figures(Agent::Pi, pi), (12, 3, 1, 7));
    let opencode = r#"{"id":"msg_1","role":"assistant","modelID":"model-1","cost":0.75,"tokens":{"total":1200,"input":200,"output":60,"reasoning":5,"cache":{"read":940,"write":2}}}"#;
    assert_eq!(figures(Agent::OpenCodeExport, opencode), (200, 940, 2, 65));
    assert_eq!(
        spent(Agent::OpenCodeExport, opencode).unwrap().cost,
        Some(0.75)
    );
    let kimi = r#"{"type":"usage.record","model":"k","usage":{"inputOther":9431,"output":42,"inputCacheRead":14848,"inputCacheCreation":0}}"#;
    assert_eq!(figures(Agent::Kimi, kimi), (9431, 14848, 0, 42));
    let qwen = r#"{"uuid":"u","usageMetadata":{"promptTokenCount":1234,"candidatesTokenCount":56,"thoughtsTokenCount":1,"cachedContentTokenCount":400}}"#;
    assert_eq!(figures(Agent::Qwen, qwen), (834, 400, 0, 57));
    let cline = r#"{"say":"api_req_started","text":"{\"tokensIn\": 1200, \"tokensOut\": 80, \"cacheWrites\": 4, \"cacheReads\": 9, \"cost\": 0.004}"}"#;
    assert_eq!(figures(Agent::ClineUi, cline), (1200, 9, 4, 80));
    let openhands = r#"{"tool_call_metadata":{"model_response":{"id":"c","model":"o","usage":{"completion_tokens":104,"prompt_tokens":3439,"cache_creation_input_tokens":3435,"cache_read_input_tokens":0}}}}"#;
    assert_eq!(
        figures(Agent::OpenHandsDocument, openhands),
        (4, 0, 3435, 104)
    );
    let copilot = r#"{"type":"assistant.message","data":{"apiCallId":"a","model":"gpt-5-mini","outputTokens":12}}"#;
    assert_eq!(figures(Agent::Copilot, copilot), (0, 0, 0, 12));
    let goose = r#"{"accumulated_usage":{"input_tokens":124611,"output_tokens":394},"accumulated_cost":null}"#;
    assert_eq!(figures(Agent::GooseDocument, goose), (124_611, 0, 0, 394));
    assert!(spent(Agent::GooseDocument, goose).unwrap().whole);
}

#[test]
fn records_without_figures() {
    for record in [
        "",
        "{",
        "[]",
        "{}",
        r#"{"message":{"usage":7}}"#,
        r#"{"message":7}"#,
    ] {
        for agent in [
            Agent::ClaudeCode,
            Agent::Codex,
            Agent::Kimi,
            Agent::Copilot,
            Agent::Pi,
        ] {
            let told = spent(agent, record);
            assert!(told.is_none_or(|it| it.input + it.output == 0), "{record}");
        }
    }
    let made = r#"{"message":{"model":"<synthetic>","usage":{"input_tokens":0}}}"#;
    assert_eq!(spent(Agent::ClaudeCode, made), None);
    let negative = r#"{"message":{"usage":{"input_tokens":-5,"output_tokens":"7"}},"costUSD":-1}"#;
    let told = spent(Agent::ClaudeCode, negative).unwrap();
    assert_eq!((told.input, told.output, told.cost), (0, 0, None));
}

#[test]
fn standing_texts() {
    let meta = r#"{"type":"session_meta","payload":{"id":"c","base_instructions":{"text":"You are"},"instructions":null,"dynamic_tools":[{"name":"a"},{"name":"b"}]}}"#;
    let found = standing("codex.session_meta", meta);
    let told: Vec<_> = found
        .iter()
        .map(|it| (it.what, it.pointer, it.count))
        .collect();
    assert_eq!(
        told,
        [
            ("system", "/payload/base_instructions/text", None),
            ("tools", "/payload/dynamic_tools", Some(2))
        ]
    );
    assert!(standing("codex.session_meta", "no json").is_empty());
    assert!(may_stand("kimi.llm.tools_snapshot") && !may_stand("message.user"));
}
