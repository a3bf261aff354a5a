// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/chat_template_table.h"

#include "engine/base/hash.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

namespace spanscope::text {
namespace {

TemplatePiece control(std::string spelling) {
  return {true, std::move(spelling)};
}
TemplatePiece literal(std::string text) {
  return {false, std::move(text)};
}

/// The three roles in the order of query::Role, each with its own name in the form.
template <class Form>
void setTurns(ChatTemplate& chat, const Form& form) {
  for (const query::Role role : {query::Role::System, query::Role::User, query::Role::Assistant}) {
    chat.turns[static_cast<std::size_t>(role)] = form(std::string(query::roleName(role)));
  }
}

void setTurn(ChatTemplate& chat, query::Role role, TurnForm form) {
  chat.turns[static_cast<std::size_t>(role)] = std::move(form);
}

KnownChatTemplate spanlet() {
  KnownChatTemplate known;
  ChatTemplate& chat = known.chat;
  chat.name = "spanlet";
  setTurns(chat, [](const std::string& role) {
    return TurnForm{{control("<|" + role + "|>"), literal(" ")}, {control("<|end|>")}};
  });
  chat.generationPrompt = {control("<|assistant|>")};
  chat.answerSuffix = {control("<|end|>")};
  chat.answerLeading = " ";
  known.fingerprints = {0xFA2C3161113F8524U};
  return known;
}

TurnForm llama3Turn(const std::string& role, const std::string& before = "") {
  return {
      {control("<|start_header_id|>"), literal(role), control("<|end_header_id|>"), literal("\n\n" + before)},
      {control("<|eot_id|>")},
      Trim::Both};
}

KnownChatTemplate llama3() {
  KnownChatTemplate known;
  ChatTemplate& chat = known.chat;
  chat.name = "llama-3";
  chat.opening = {control("<|begin_of_text|>")};
  setTurns(chat, [](const std::string& role) { return llama3Turn(role); });
  chat.generationPrompt = llama3Turn("assistant").prefix;
  chat.answerSuffix = {control("<|eot_id|>")};
  known.markers = {
      "'<|start_header_id|>' + m.role + '<|end_header_id|>\n\n' + m.content | trim + '<|eot_id|>'"};
  // A system message of its own, or tools that are always written.
  known.foreign = {"Cutting Knowledge Date", "<|header_start|>", "You are ", "functions"};
  known.fingerprints = {0x9799AD6E2DEA0594U, 0xB97891B7ADC1BEB8U};
  return known;
}

/// Llama 3.1, 3.2 and 3.3 begin with a system turn that has a date. The templates of these models use the
/// current date. The date here is the fallback date of these templates. A date that changes would make every
/// cached block useless the next day.
KnownChatTemplate llama31() {
  KnownChatTemplate known = llama3();
  known.chat.name = "llama-3.1";
  known.chat.openingSystem =
      llama3Turn("system", "Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n");
  known.chat.defaultSystem = "";
  known.fingerprints = {0xDA8AE4616203881AU, 0xBA28F0D41AA45594U};
  known.markers = {"<|start_header_id|>", "<|eot_id|>", "Cutting Knowledge Date: December 2023",
                   "26 Jul 2024"};
  // The template of the models of pictures does not trim every text.
  known.foreign = {"<|image|>"};
  return known;
}

KnownChatTemplate chatMl() {
  KnownChatTemplate known;
  ChatTemplate& chat = known.chat;
  chat.name = "chatml";
  setTurns(chat, [](const std::string& role) {
    return TurnForm{{control("<|im_start|>"), literal(role + "\n")}, {control("<|im_end|>"), literal("\n")}};
  });
  chat.generationPrompt = {control("<|im_start|>"), literal("assistant\n")};
  chat.answerSuffix = {control("<|im_end|>"), literal("\n")};
  known.markers = {"'<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>'"};
  known.fingerprints = {0xA04F41D813A07B13U, 0xDA206A9E46A4AC01U};
  // Another separator, a beginning, reasoning, or an unknown system message.
  known.foreign = {"<|im_sep|>", "bos_token", "<think>", "!= 'system'", "You are "};
  return known;
}

KnownChatTemplate chatMlWithSystem(std::string name, std::string system, std::vector<std::string> foreign,
                                   std::vector<std::uint64_t> fingerprints = {}) {
  KnownChatTemplate known = chatMl();
  known.chat.name = std::move(name);
  known.markers = {"<|im_start|>", "<|im_end|>", system};
  known.chat.defaultSystem = std::move(system);
  known.foreign = std::move(foreign);
  known.foreign.emplace_back("bos_token");
  known.fingerprints = std::move(fingerprints);
  return known;
}

/// Reasoning in earlier assistant turns is kept as it is written. The checkpoint's template drops it. But a
/// span does not contain whether a turn is an earlier turn.
KnownChatTemplate qwen3() {
  KnownChatTemplate known = chatMl();
  known.chat.name = "qwen3";
  // The prompt for an answer has a thought only if thinking is switched off.
  known.markers = {"'<|im_start|>' + m.role + '\n' + content", "'<|im_start|>assistant\n'",
                   "enable_thinkingisdefinedandenable_thinkingisfalse", "'<think>\n\n</think>\n\n'"};
  known.foreign = {"'<think>\n'", "assistant\n<think>", "bos_token", "Reasoning Mode", "!= 'system'"};
  known.fingerprints = {0x5A33498785C53D45U};
  return known;
}

/// Qwen3 models that never think: those of July 2025 and Qwen3-Coder. Plain ChatML.
KnownChatTemplate qwen3Instruct() {
  KnownChatTemplate known = chatMl();
  known.chat.name = "qwen3-instruct";
  known.markers = {"'<|im_start|>' + m.role + '\n' + content + '<|im_end|>' + '\n'",
                   "'<|im_start|>assistant\n'"};
  known.foreign = {"<|im_sep|>", "bos_token", "think", "!= 'system'", "<|vision_start|>", "default_system"};
  known.fingerprints = {0x5D8FCF357EB372DBU};
  return known;
}

/// Qwen3 with thinking switched off: chosen by name.
KnownChatTemplate qwen3WithoutThinking() {
  KnownChatTemplate known = qwen3();
  known.chat.name = "qwen3-no-think";
  known.chat.generationPrompt = {control("<|im_start|>"), literal("assistant\n<think>\n\n</think>\n\n")};
  known.markers = {};
  known.fingerprints = {};
  return known;
}

/// Granite 3.0 to 3.2. From 3.1 on, a conversation without a system message begins with a default message
/// that has the current date. Spanscope leaves this message out, because the date would change every block's
/// key every day.
KnownChatTemplate granite3() {
  KnownChatTemplate known;
  ChatTemplate& chat = known.chat;
  chat.name = "granite-3";
  setTurns(chat, [](const std::string& role) {
    return TurnForm{{control("<|start_of_role|>"), literal(role), control("<|end_of_role|>")},
                    {control("<|end_of_text|>"), literal("\n")}};
  });
  chat.generationPrompt = {control("<|start_of_role|>"), literal("assistant"), control("<|end_of_role|>")};
  chat.answerSuffix = {control("<|end_of_text|>"), literal("\n")};
  known.markers = {"<|start_of_role|>", "<|end_of_role|>", "<|end_of_text|>"};
  known.foreign = {"ns.system_message"};
  known.fingerprints = {0xAD20145AFDF4BF61U, 0x907E8C84A81E8D96U};
  return known;
}

/// Granite 3.3 writes that message too. The date in the message is the fallback date of Llama's templates.
KnownChatTemplate granite33() {
  KnownChatTemplate known = granite3();
  known.chat.name = "granite-3.3";
  known.chat.defaultSystem =
      "Knowledge Cutoff Date: April 2024. Today's Date: July 26, 2024. You are Granite, developed by IBM. "
      "You are a "
      "helpful AI assistant.";
  known.markers.insert(known.markers.end(),
                       {"Knowledge Cutoff Date: April 2024. Today", "You are Granite, developed by IBM."});
  known.foreign = {};
  known.fingerprints = {0x3ECF25733CE105A3U};
  return known;
}

/// Granite 4 begins with a system message of its own if there is none.
KnownChatTemplate granite4() {
  KnownChatTemplate known = granite3();
  known.chat.name = "granite-4";
  known.chat.defaultSystem =
      "You are a helpful assistant. Please ensure responses are professional, accurate, and safe.";
  known.chat.emptySystem = EmptySystem::Default;
  known.markers.push_back("'" + *known.chat.defaultSystem + "'");
  known.foreign = {};
  known.fingerprints = {0x4A239C2C94E4333FU};
  return known;
}

/// Granite 4.1 has no such message, and leaves out a system message without text.
KnownChatTemplate granite41() {
  KnownChatTemplate known = granite3();
  known.chat.name = "granite-4.1";
  known.chat.emptySystem = EmptySystem::Omitted;
  known.markers.insert(known.markers.end(), {"system_message=''", "ifns.system_message%}"});
  known.foreign = {"Please ensure responses are professional"};
  known.fingerprints = {0xAD4E67372F90FEF5U};
  return known;
}

/// SmolLM3 writes the system message in its own form, which also switches thinking. The form's line with the
/// current date is left out. A current date would change every block's key every day.
KnownChatTemplate smollm3(const std::string& mode, std::string defaultSystem) {
  KnownChatTemplate known = chatMl();
  known.chat.name = "smollm3";
  known.chat.openingSystem =
      TurnForm{{control("<|im_start|>"),
                literal("system\n## Metadata\n\nKnowledge Cutoff Date: June 2025\nReasoning Mode: " + mode +
                        "\n\n## Custom Instructions\n\n")},
               {literal("\n\n"), control("<|im_end|>"), literal("\n")},
               Trim::End};
  known.chat.defaultSystem = std::move(defaultSystem);
  known.chat.emptySystem = EmptySystem::Default;
  known.chat.turns[static_cast<std::size_t>(query::Role::Assistant)]->trim = Trim::LinesBefore;
  // A later system message is left out by the template, silently.
  known.chat.turns[static_cast<std::size_t>(query::Role::System)].reset();
  known.fingerprints = {};
  known.foreign = {};
  return known;
}

KnownChatTemplate smollm3Thinking() {
  KnownChatTemplate known = smollm3(
      "/think",
      R"(You are a helpful AI assistant named SmolLM, trained by Hugging Face. Your role as an assistant )"
      R"(involves thoroughly exploring questions through a systematic thinking process before providing the )"
      R"(final precise and accurate solutions. This requires engaging in a comprehensive cycle of analysis, )"
      R"(summarizing, exploration, reassessment, reflection, backtracking, and iteration to develop )"
      R"(well-considered thinking process. Please structure your response into two main sections: Thought and )"
      R"(Solution using the specified format: <think> Thought section </think> Solution section. In the )"
      R"(Thought section, detail your reasoning process in steps. Each step should include detailed )"
      R"(considerations such as analysing questions, summarizing relevant findings, brainstorming new ideas, )"
      R"(verifying the accuracy of the current steps, refining any errors, and revisiting previous steps. In )"
      R"(the Solution section, based on various attempts, explorations, and reflections from the Thought )"
      R"(section, systematically present the final solution that you deem correct. The Solution section should )"
      R"(be logical, accurate, and concise and detail necessary steps needed to reach the conclusion.)");
  known.markers = {"<|im_start|>", "<|im_end|>", "## Custom Instructions", "Reasoning Mode: "};
  known.fingerprints = {0xA0A614D0C35C79EBU};
  return known;
}

/// SmolLM3 with thinking switched off: chosen by name.
KnownChatTemplate smollm3WithoutThinking() {
  KnownChatTemplate known =
      smollm3("/no_think", "You are a helpful AI assistant named SmolLM, trained by Hugging Face.");
  known.chat.name = "smollm3-no-think";
  const TemplatePiece answer = literal("assistant\n<think>\n\n</think>\n");
  known.chat.generationPrompt = {control("<|im_start|>"), answer};
  known.chat.turns[static_cast<std::size_t>(query::Role::Assistant)]->prefix = known.chat.generationPrompt;
  known.markers = {};
  return known;
}

/// Phi-3 and 3.5 spell a line after each control piece, which their tokenizers drop; Phi-4-mini spells none.
KnownChatTemplate phi(std::string name, const std::string& space) {
  KnownChatTemplate known;
  ChatTemplate& chat = known.chat;
  chat.name = std::move(name);
  const auto marker = [&space](const std::string& text) {
    std::vector<TemplatePiece> pieces = {{true, text, true}};
    if (!space.empty()) pieces.push_back(literal(space));
    return pieces;
  };
  setTurns(chat, [&](const std::string& role) {
    return TurnForm{marker("<|" + role + "|>"), marker("<|end|>")};
  });
  chat.generationPrompt = marker("<|assistant|>");
  chat.answerSuffix = marker("<|end|>");
  return known;
}

KnownChatTemplate phi3() {
  KnownChatTemplate known = phi("phi-3", "\n");
  known.markers = {"'<|user|>\n' + m.content + '<|end|>\n'", "'<|assistant|>\n' + m.content + '<|end|>\n'",
                   "'<|system|>\n' + m.content + '<|end|>\n'"};
  known.foreign = {"bos_token", "<think>", "<|im_start|>", "You are ", "== 'system' and m.content"};
  known.fingerprints = {0x82FC89C04C54BA66U};
  return known;
}

/// Phi-3.5 leaves out system messages without text.
KnownChatTemplate phi35() {
  KnownChatTemplate known = phi3();
  known.chat.name = "phi-3.5";
  known.chat.emptySystem = EmptySystem::OmittedAnywhere;
  known.markers.emplace_back(known.foreign.back());
  known.foreign.pop_back();
  known.fingerprints = {0xCD8AFF863ABD4554U};
  return known;
}

KnownChatTemplate phi4Mini() {
  KnownChatTemplate known = phi("phi-4-mini", "");
  known.markers = {"'<|' + m.role + '|>' + m.content + '<|end|>'", "'<|assistant|>'"};
  known.foreign = {"bos_token", "<think>", "You are "};
  known.fingerprints = {0x1C0680782A7C9316U};
  return known;
}

/// Phi-4's tokenizers drop white space on both sides of the control pieces. The text is therefore trimmed at
/// both ends.
KnownChatTemplate phi4() {
  KnownChatTemplate known;
  ChatTemplate& chat = known.chat;
  chat.name = "phi-4";
  setTurns(chat, [](const std::string& role) {
    return TurnForm{
        {control("<|im_start|>"), literal(role), control("<|im_sep|>")}, {control("<|im_end|>")}, Trim::Both};
  });
  chat.generationPrompt = {control("<|im_start|>"), literal("assistant"), control("<|im_sep|>")};
  chat.answerSuffix = {control("<|im_end|>")};
  known.markers = {"<|im_start|>user<|im_sep|>", "<|im_start|>assistant<|im_sep|>", "<|im_end|>"};
  known.foreign = {"<think>", "You are "};
  known.fingerprints = {0x70325D9540E2904FU};
  return known;
}

/// The markers of the roles are plain text here; only the end of a turn is a control piece.
KnownChatTemplate plainRoles(std::string name, const std::string& end) {
  KnownChatTemplate known;
  ChatTemplate& chat = known.chat;
  chat.name = std::move(name);
  setTurns(chat, [&](const std::string& role) {
    return TurnForm{{literal("<|" + role + "|>\n")}, {control(end), literal("\n")}};
  });
  chat.generationPrompt = {literal("<|assistant|>\n")};
  chat.answerSuffix = {control(end), literal("\n")};
  return known;
}

KnownChatTemplate zephyr() {
  KnownChatTemplate known = plainRoles("zephyr", "</s>");
  known.fingerprints = {0x1DB34E9FC60441D8U};
  known.markers = {"'<|user|>\n' + m.content + eos_token", "'<|system|>\n' + m.content + eos_token"};
  known.foreign = {"bos_token", "You are "};
  return known;
}

/// Tulu 3: only assistant turns are closed by a control piece.
KnownChatTemplate tulu3(std::string name, const std::string& end) {
  KnownChatTemplate known = plainRoles(std::move(name), end);
  known.fingerprints = {0x7B4A2D69F1D91B7CU};
  for (const query::Role role : {query::Role::System, query::Role::User}) {
    known.chat.turns[static_cast<std::size_t>(role)]->suffix = {literal("\n")};
  }
  known.markers = {"'<|user|>\n' + m.content + '\n'", "'<|system|>\n' + m.content + '\n'"};
  known.foreign = {"<think>", "bos_token", "You are "};
  return known;
}

KnownChatTemplate olmo2() {
  KnownChatTemplate known = tulu3("olmo-2", "<|endoftext|>");
  known.chat.opening = {control("<|endoftext|>")};
  known.fingerprints = {0x2CF6C80E0C47B498U};
  known.markers.insert(known.markers.begin(), "{{ bos_token }}");
  known.foreign = {"<think>", "You are "};
  return known;
}

/// Gemma 1 to 3. The system has no turn of its own: templates refuse it, or write it into the user's turn.
KnownChatTemplate gemma() {
  KnownChatTemplate known;
  ChatTemplate& chat = known.chat;
  chat.name = "gemma";
  chat.opening = {control("<bos>")};
  const auto turn = [](const std::string& role) {
    return TurnForm{{control("<start_of_turn>"), literal(role + "\n")},
                    {control("<end_of_turn>"), literal("\n")},
                    Trim::Both};
  };
  setTurn(chat, query::Role::User, turn("user"));
  setTurn(chat, query::Role::Assistant, turn("model"));
  chat.generationPrompt = turn("model").prefix;
  chat.answerSuffix = turn("model").suffix;
  known.markers = {"bos_token", "'<start_of_turn>' + role + '\n'", "set role = 'model'", "m.content|trim",
                   "'<end_of_turn>\n'"};
  known.foreign = {"You are ", "tools"};
  known.fingerprints = {0x2C2E86BEABCCD2A4U};
  return known;
}

/// Mistral's families differ in spaces, in [INST] as a control piece, and in trimming. Before v7 the system
/// has no turn of its own. The system message is written into the first or the last of the user's turns.
KnownChatTemplate mistral(std::string name, TurnForm user, TurnForm assistant) {
  KnownChatTemplate known;
  ChatTemplate& chat = known.chat;
  chat.name = std::move(name);
  chat.opening = {control("<s>")};
  chat.answerLeading = assistant.prefix.empty() ? "" : assistant.prefix.front().text;
  chat.answerSuffix = assistant.suffix;
  setTurn(chat, query::Role::User, std::move(user));
  setTurn(chat, query::Role::Assistant, std::move(assistant));
  return known;
}

KnownChatTemplate mistralBeforeV1() {
  KnownChatTemplate known =
      mistral("mistral-v0", {{literal("[INST] ")}, {literal(" [/INST]")}}, {{}, {control("</s>")}});
  known.markers = {"'[INST] ' + m.content + ' [/INST]'", "m.content+eos_token"};
  known.foreign = {"<<SYS>>", "' ' "};
  known.fingerprints = {0xA5D004210EBCE758U};
  return known;
}

KnownChatTemplate mistralV1() {
  KnownChatTemplate known = mistral("mistral-v1", {{literal(" [INST] ")}, {literal(" [/INST]")}},
                                    {{literal(" ")}, {control("</s>")}});
  known.markers = {"' [INST] ' + m.content + ' [/INST]'", "' ' + m.content + eos_token"};
  known.fingerprints = {0xFA42EF759A4066EFU};
  return known;
}

KnownChatTemplate mistralV3() {
  KnownChatTemplate known = mistral("mistral-v3", {{control("[INST]"), literal(" ")}, {control("[/INST]")}},
                                    {{literal(" ")}, {control("</s>")}, Trim::Both});
  known.markers = {"\"[INST] \" + m.content + \"[/INST]\"", "\" \" + m.content|trim + eos_token"};
  return known;
}

KnownChatTemplate mistralNemo() {
  KnownChatTemplate known =
      mistral("mistral-v3-tekken", {{control("[INST]")}, {control("[/INST]")}}, {{}, {control("</s>")}});
  known.markers = {"\"[INST]\" + m.content + \"[/INST]\"", "m.content+eos_token"};
  known.fingerprints = {0xA5438A4278F4C2EEU, 0xFF84F76A5A88E3D1U};
  known.foreign = {"[SYSTEM_PROMPT]"};
  return known;
}

/// Other templates with these markers begin with a system message of their own. Only the fingerprint
/// distinguishes these templates.
KnownChatTemplate mistralV7() {
  KnownChatTemplate known = mistral("mistral-v7", {{control("[INST]"), literal(" ")}, {control("[/INST]")}},
                                    {{literal(" ")}, {control("</s>")}});
  setTurn(known.chat, query::Role::System,
          {{control("[SYSTEM_PROMPT]"), literal(" ")}, {control("[/SYSTEM_PROMPT]")}});
  known.fingerprints = {0x11381D1C62000F60U};
  return known;
}

/// From Mistral Small 3 on, there are no spaces around the markers. Templates with their own system message
/// are not in this table, because each has a different system message.
KnownChatTemplate mistralV7Tekken() {
  KnownChatTemplate known =
      mistral("mistral-v7-tekken", {{control("[INST]")}, {control("[/INST]")}}, {{}, {control("</s>")}});
  setTurn(known.chat, query::Role::System, {{control("[SYSTEM_PROMPT]")}, {control("[/SYSTEM_PROMPT]")}});
  known.markers = {"'[SYSTEM_PROMPT]'", "'[INST]' + m.content + '[/INST]'", "default_system_message = ''"};
  return known;
}

std::vector<KnownChatTemplate> makeTable() {
  return {spanlet(),
          llama31(),
          llama3(),
          chatMlWithSystem("qwen2.5", "You are Qwen, created by Alibaba Cloud. You are a helpful assistant.",
                           {"<think>"}, {0xF9A29021C9D093ADU, 0x08C2D908FAB6CB7FU}),
          chatMlWithSystem("smollm2", "You are a helpful AI assistant named SmolLM, trained by Hugging Face",
                           {"<think>", "Reasoning Mode"}, {0x99AB995E9629DACDU}),
          chatMlWithSystem("qwen2", "You are a helpful assistant.", {"<think>", "You are Qwen"},
                           {0xD5D943BD0BD9082FU}),
          smollm3Thinking(),
          smollm3WithoutThinking(),
          qwen3(),
          qwen3WithoutThinking(),
          qwen3Instruct(),
          phi4(),
          chatMl(),
          granite4(),
          granite41(),
          granite33(),
          granite3(),
          phi35(),
          phi3(),
          phi4Mini(),
          zephyr(),
          olmo2(),
          tulu3("tulu-3", "<|end_of_text|>"),
          gemma(),
          mistralV1(),
          mistralBeforeV1(),
          mistralV3(),
          mistralNemo(),
          mistralV7(),
          mistralV7Tekken()};
}

}  // namespace

std::string canonicalTemplate(std::string_view source) {
  std::string text;
  text.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\\' && i + 1 < source.size() && source[i + 1] == 'n') {
      text += '\n';
      ++i;
    } else {
      text += source[i];
    }
  }
  constexpr const char* kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

namespace {

/// Copies the text between the tags. Writes the code in the tags in one style.
class CodeWriter {
 public:
  explicit CodeWriter(bool isInTag) : m_isInTag(isInTag) {}

  std::string write(std::string_view source) {
    for (std::size_t i = 0; i < source.size(); ++i) {
      const char c = source[i];
      const char next = i + 1 < source.size() ? source[i + 1] : '\0';
      if (!m_isInTag) {
        m_isInTag = c == '{' && (next == '{' || next == '%' || next == '#');
        m_code += c;
      } else if (m_quote != 0) {
        if (c == '\\' && next != '\0') m_code += source[i++];
        m_code += source[i] == m_quote ? '\'' : source[i];
        if (c == m_quote) m_quote = 0;
      } else if (c == '\'' || c == '"') {
        m_quote = c;
        m_code += '\'';
      } else if (std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_') {
        const std::size_t end = std::min(source.find_first_not_of(kNameLetters, i), source.size());
        const std::string_view name = source.substr(i, end - i);
        m_code += name == "message" ? "m" : name;
        i = end - 1;
      } else if (c != ' ' && c != '\t' && c != '\r' && c != '\n') {
        if ((c == '}' || c == '%' || c == '#') && next == '}') m_isInTag = false;
        m_code += c;
      }
    }
    replace("m['role']", "m.role");
    replace("m['content']", "m.content");
    return std::move(m_code);
  }

 private:
  static constexpr const char* kNameLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

  void replace(std::string_view from, std::string_view to) {
    for (std::size_t at = m_code.find(from); at != std::string::npos; at = m_code.find(from, at + to.size()))
      m_code.replace(at, from.size(), to);
  }

  std::string m_code;
  bool m_isInTag;
  char m_quote = 0;
};

}  // namespace

std::string templateCode(std::string_view source) {
  return CodeWriter(false).write(canonicalTemplate(source));
}

std::string markerCode(std::string_view marker) {
  return marker.find_first_of("'\"") == std::string_view::npos ? std::string(marker)
                                                               : CodeWriter(true).write(marker);
}

namespace {

/// Goes through a program of Jinja from one tag to the next.
class TagReader {
 public:
  explicit TagReader(std::string_view source) : m_rest(source) {}

  /// The text before the next tag, or after the last one. Empty at the end.
  std::optional<std::string_view> nextText() {
    if (m_isOver) return std::nullopt;
    std::size_t begin = m_rest.find('{');
    while (begin != std::string_view::npos && !isTag(begin)) begin = m_rest.find('{', begin + 1);
    std::string_view text = m_rest.substr(0, begin);
    if (m_stripsAfter) {
      text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
    } else if (m_endsBlock && text.starts_with('\n')) {
      text.remove_prefix(1);
    }
    if (begin == std::string_view::npos) {
      m_isOver = true;
      if (text.ends_with('\n')) text.remove_suffix(1);
      return text;
    }
    const char kind = m_rest[begin + 1];
    const bool isLineStart = begin == 0 ||
                             m_rest.substr(0, begin).find_last_not_of(" \t") == std::string_view::npos ||
                             m_rest[m_rest.substr(0, begin).find_last_not_of(" \t")] == '\n';
    if (begin + 2 < m_rest.size() && m_rest[begin + 2] == '-') {
      const std::size_t last = text.find_last_not_of(kSpace);
      text = text.substr(0, last == std::string_view::npos ? 0 : last + 1);
    } else if (kind != '{' && isLineStart) {
      const std::size_t last = text.find_last_not_of(" \t");
      text = text.substr(0, last == std::string_view::npos ? 0 : last + 1);
    }
    skipTag(begin, kind);
    return text;
  }

 private:
  static constexpr const char* kSpace = " \t\r\n";

  bool isTag(std::size_t at) const {
    return at + 1 < m_rest.size() &&
           (m_rest[at + 1] == '{' || m_rest[at + 1] == '%' || m_rest[at + 1] == '#');
  }

  void skipTag(std::size_t begin, char kind) {
    const std::string end{kind == '{' ? '}' : kind, '}'};
    char quote = 0;
    std::size_t at = begin + 2;
    for (; at < m_rest.size(); ++at) {
      const char c = m_rest[at];
      if (quote != 0) {
        if (c == '\\') ++at;
        if (c == quote) quote = 0;
      } else if (kind != '#' && (c == '\'' || c == '"')) {
        quote = c;
      } else if (m_rest.substr(at, 2) == end) {
        break;
      }
    }
    m_stripsAfter = at > begin + 2 && at <= m_rest.size() && m_rest[at - 1] == '-';
    m_endsBlock = kind != '{';
    m_rest.remove_prefix(std::min(at + 2, m_rest.size()));
  }

  std::string_view m_rest;
  bool m_isOver = false;
  bool m_stripsAfter = false;  ///< the last tag removes white space after it
  bool m_endsBlock = false;    ///< the last tag writes nothing itself
};

}  // namespace

bool writesSpaceBetweenTags(std::string_view source) {
  TagReader reader(source);
  while (const std::optional<std::string_view> text = reader.nextText()) {
    if (!text->empty() && text->find_first_not_of(" \t\r\n") == std::string_view::npos) return true;
  }
  return false;
}

std::uint64_t templateFingerprint(std::string_view source) {
  const std::string text = canonicalTemplate(source);
  return hash64(text);
}

const std::vector<KnownChatTemplate>& knownChatTemplates() {
  static const std::vector<KnownChatTemplate> known = makeTable();
  return known;
}

}  // namespace spanscope::text
