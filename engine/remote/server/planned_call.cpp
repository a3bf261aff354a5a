// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/server/planned_call.h"

#include "engine/base/json_text.h"
#include "engine/base/utf8.h"
#include "engine/query/diagnostic.h"
#include "engine/query/json/json.h"
#include "engine/query/node_parts.h"
#include "engine/spnl/request_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

namespace spanscope::server {

namespace {

/// Makes the plan of a call with known query and settings.
void makePlanOf(PlannedCall& call, const CallRules& rules) {
  plan::PlanOptions options = rules.plan;
  options.seed = call.options.seed;
  plan::PlanResult result = plan::makePlan(call.query, options);
  if (!result.problems.empty()) {
    const Error& first = result.problems.front();
    refuseField(first.place, first.message());
  }
  call.plan = std::make_shared<const plan::Plan>(std::move(*result.plan));
  call.options.queryJson = query::writeCanonical(call.query);
}

std::optional<std::int32_t> limited(std::optional<std::int32_t> asked, const CallRules& rules,
                                    const char* param) {
  if (asked && rules.mostTokens > 0 && *asked > rules.mostTokens) {
    refuseField(param, std::string("'") + param + "' must be at most " + std::to_string(rules.mostTokens) +
                           ", the limit of this server.");
  }
  return asked;
}

PlannedCall begun(const CallSettings& settings, const CallRules& rules, std::uint64_t randomSeed) {
  PlannedCall call;
  call.model = settings.model;
  call.options = rules.options;
  call.options.seed = settings.seed.value_or(randomSeed);
  call.options.topP = settings.topP;
  call.options.topK = settings.topK;
  if (rules.mostTokens > 0) call.options.maxTokens = rules.mostTokens;
  call.choicesPerPrompt = static_cast<std::size_t>(settings.replies);
  call.stops = settings.stops;
  call.minTokens = settings.minTokens;
  limited(settings.minTokens, rules, "min_tokens");
  call.options.minTokens = settings.minTokens;
  if (settings.ignoresEnd) {
    // The run gets another min number. So the limit must not be below the requested min number.
    call.options.minTokens = std::numeric_limits<std::int32_t>::max();
    const std::int32_t usual = call.options.maxTokens > 0 ? call.options.maxTokens : rules.usualTokens;
    call.options.maxTokens = std::max(usual, settings.minTokens);
  }
  call.logprobs = settings.logprobs;
  call.options.alternatives = settings.alternatives;
  call.stream = settings.stream;
  call.includesUsage = settings.includesUsage;
  return call;
}

query::GenerateSettings generateSettings(const CallSettings& settings, const CallRules& rules) {
  query::GenerateSettings generate{.model = settings.model, .maxTokens = {}, .temperature = {}};
  if (const auto most = limited(settings.maxTokens, rules, "max_tokens")) generate.maxTokens = *most;
  generate.temperature = settings.temperature;
  return generate;
}

/// Makes a repeat for several answers to a prompt.
query::Node repeated(query::Generate generate, std::int32_t replies) {
  if (replies == 1) return query::Node{std::move(generate)};
  return query::Node{
      query::Repeat{.count = static_cast<std::uint8_t>(replies), .generate = std::move(generate)}};
}

}  // namespace

const text::ChatTemplate& rawTemplate(const text::ChatTemplate& ofModel) {
  static std::mutex mutex;
  static std::map<std::string, text::ChatTemplate> made;
  // The name alone is not enough: two templates with one name may begin prompts differently.
  const std::string opening = text::spell(ofModel.opening);
  const std::lock_guard lock(mutex);
  text::ChatTemplate& raw = made[opening];
  if (raw.name.empty()) {
    raw.name = "none";
    raw.opening = ofModel.opening;
    for (auto& turn : raw.turns) turn = text::TurnForm{};
  }
  return raw;
}

query::Node chatQuery(const std::vector<query::Message>& messages, const query::GenerateSettings& settings) {
  query::Node input;
  if (messages.size() == 1) {
    input = query::Node{messages.front()};
  } else {
    query::Join join{query::JoinKind::Cross, {}};
    for (const query::Message& message : messages) join.children.push_back(query::Node{message});
    input = query::Node{std::move(join)};
  }
  return query::Node{query::Generate{settings, std::move(input)}};
}

PlannedCall planChat(const ChatCall& call, const CallRules& rules, std::uint64_t randomSeed) {
  PlannedCall planned = begun(call.settings, rules, randomSeed);
  planned.form = AnswerForm::Chat;
  query::Node query = chatQuery(call.messages, generateSettings(call.settings, rules));
  planned.query = repeated(std::move(*query.as<query::Generate>()), call.settings.replies);
  makePlanOf(planned, rules);
  return planned;
}

PlannedCall planCompletion(const CompletionCall& call, const CallRules& rules, const ServedModel& model,
                           std::uint64_t randomSeed) {
  PlannedCall planned = begun(call.settings, rules, randomSeed);
  planned.form = AnswerForm::Completion;
  std::vector<std::string> prompts = call.prompts;
  for (const std::vector<TokenId>& ids : call.tokens) {
    for (const TokenId id : ids) {
      if (id >= model.tokenizer->vocabularySize())
        refuseField("prompt", "The model has no token " + std::to_string(id) + ".");
    }
    std::string text = model.tokenizer->decode(ids);
    // A query contains texts. A query cannot express ids that no text produces.
    if (model.tokenizer->encode(text) != ids)
      refuseField("prompt",
                  "This server accepts token ids only if decoding and encoding these ids gives the same ids.",
                  "unsupported_parameter");
    prompts.push_back(std::move(text));
  }
  query::Join join{query::JoinKind::Seq, {}};
  for (std::string& prompt : prompts) {
    if (prompt.empty()) refuseField("prompt", "'prompt' must not be empty.");
    query::Node input{query::Message{query::Role::User, std::move(prompt)}};
    query::Generate generate{generateSettings(call.settings, rules), std::move(input)};
    join.children.push_back(repeated(std::move(generate), call.settings.replies));
  }
  planned.query = join.children.size() == 1 ? std::move(join.children.front()) : query::Node{std::move(join)};
  planned.options.chat = &rawTemplate(*model.chat);
  makePlanOf(planned, rules);
  return planned;
}

PlannedCall planQuery(std::string_view body, const CallRules& rules, std::uint64_t randomSeed) {
  const query::ParseResult parsed = query::parseJson(body);
  if (!parsed.query) {
    for (const query::Diagnostic& diagnostic : parsed.diagnostics) {
      if (diagnostic.severity != Severity::Error) continue;
      refuseField(diagnostic.pointer, diagnostic.located("body"));
    }
    refuseField({}, "The body is not a query.");
  }
  const query::Node& query = *parsed.query;
  if (!spnl::isServerBody(query)) {
    refuseField({},
                std::string(/*id:body-must-repeat*/ "The body must be a repeat, map or g. The prompt may "
                                                    "contain only messages, seq, cross and plus; found \"") +
                    query::operatorName(query) +
                    "\". The client resolves other nodes and inserts answers into prompts.");
  }
  const query::GenerateSettings& settings = *query::settingsOf(query);
  PlannedCall call = begun({.model = settings.model}, rules, randomSeed);
  if (const auto* most = std::get_if<std::int32_t>(&settings.maxTokens)) limited(*most, rules, "max_tokens");
  call.query = query;
  const bool isMap = query::inputsOf(query) != nullptr;
  call.form = isMap ? AnswerForm::Completion : AnswerForm::Chat;
  makePlanOf(call, rules);
  call.choicesPerPrompt = isMap ? 1 : std::max<std::size_t>(call.plan->steps.size(), 1);
  return call;
}

namespace {

using ReplyJson = nlohmann::ordered_json;

std::string lineOf(const ReplyJson& json) {
  return compactJson(json);
}

/// The min value, as in vLLM: JSON cannot express −∞.
double logprobOf(float probability) {
  constexpr double kLeast = -9999;
  return probability > 0 ? std::log(static_cast<double>(probability)) : kLeast;
}

ReplyJson usageJson(const AnswerUsage& usage) {
  return {{"prompt_tokens", usage.promptTokens},
          {"completion_tokens", usage.completionTokens},
          {"total_tokens", usage.promptTokens + usage.completionTokens},
          {"prompt_tokens_details", {{"cached_tokens", usage.cachedTokens}}}};
}

ReplyJson headJson(const ReplyHead& head, const char* object) {
  return {{"id", head.id},
          {"object", object},
          {"created", head.created},
          {"model", head.model},
          {"system_fingerprint", head.fingerprint}};
}

/// Whether the probabilities include a token. A token that ends an answer has no text and is left out.
bool isReported(const AnswerPiece& piece, const text::Tokenizer& tokenizer) {
  return piece.token && !tokenizer.isControl(piece.token->id);
}

/// Returns the name of a token among probabilities. The name of a control token is its displayed form.
std::string nameOf(TokenId token, const text::Tokenizer& tokenizer) {
  return tokenizer.isControl(token) ? tokenizer.display(token) : tokenizer.bytes(token);
}

ReplyJson chatLogprob(TokenId token, float probability, const text::Tokenizer& tokenizer) {
  const std::string bytes = nameOf(token, tokenizer);
  ReplyJson list = ReplyJson::array();
  for (const char byte : bytes) list.push_back(static_cast<unsigned char>(byte));
  return {{"token", toValidUtf8(bytes)}, {"logprob", logprobOf(probability)}, {"bytes", std::move(list)}};
}

ReplyJson chatLogprob(const DrawnToken& token, const text::Tokenizer& tokenizer) {
  ReplyJson json = chatLogprob(token.id, token.probability, tokenizer);
  ReplyJson others = ReplyJson::array();
  for (const trace::TokenAlternative& other : token.alternatives)
    others.push_back(chatLogprob(other.token, other.probability, tokenizer));
  json["top_logprobs"] = std::move(others);
  return json;
}

/// Returns logprobs of a completion, by text: the most likely tokens and the sampled token.
ReplyJson completionLogprobs(const DrawnToken& token, const text::Tokenizer& tokenizer) {
  ReplyJson json = ReplyJson::object();
  for (const trace::TokenAlternative& other : token.alternatives)
    json.emplace(toValidUtf8(nameOf(other.token, tokenizer)), logprobOf(other.probability));
  json.emplace(toValidUtf8(nameOf(token.id, tokenizer)), logprobOf(token.probability));
  return json;
}

/// Probabilities of some tokens, in either form. `offset`: bytes of text before these tokens.
ReplyJson logprobsJson(AnswerForm form, const std::vector<AnswerPiece>& pieces, std::size_t offset,
                       const text::Tokenizer& tokenizer) {
  if (form == AnswerForm::Chat) {
    ReplyJson content = ReplyJson::array();
    for (const AnswerPiece& piece : pieces) content.push_back(chatLogprob(*piece.token, tokenizer));
    return {{"content", std::move(content)}, {"refusal", nullptr}};
  }
  ReplyJson tokens = ReplyJson::array();
  ReplyJson values = ReplyJson::array();
  ReplyJson offsets = ReplyJson::array();
  ReplyJson others = ReplyJson::array();
  bool hasOthers = false;
  for (const AnswerPiece& piece : pieces) {
    hasOthers |= !piece.token->alternatives.empty();
    others.push_back(completionLogprobs(*piece.token, tokenizer));
    tokens.push_back(toValidUtf8(tokenizer.bytes(piece.token->id)));
    values.push_back(logprobOf(piece.token->probability));
    offsets.push_back(offset);
    offset += piece.text.size();
  }
  return {{"tokens", std::move(tokens)},
          {"token_logprobs", std::move(values)},
          {"top_logprobs", hasOthers ? std::move(others) : ReplyJson(nullptr)},
          {"text_offset", std::move(offsets)}};
}

}  // namespace

WholeReply::WholeReply(ReplyHead head, std::size_t choices, bool logprobs, const text::Tokenizer& tokenizer)
    : m_head(std::move(head)), m_logprobs(logprobs), m_tokenizer(tokenizer), m_choices(choices) {}

void WholeReply::take(const AnswerPiece& piece) {
  Choice& choice = m_choices[piece.choice];
  choice.text += piece.text;
  if (piece.finished) choice.finished = *piece.finished;
  if (m_logprobs && isReported(piece, m_tokenizer)) choice.tokens.push_back(piece);
}

std::string WholeReply::json(const AnswerUsage& usage) const {
  const bool isChat = m_head.form == AnswerForm::Chat;
  ReplyJson json = headJson(m_head, isChat ? "chat.completion" : "text_completion");
  ReplyJson choices = ReplyJson::array();
  for (std::size_t i = 0; i < m_choices.size(); ++i) {
    const Choice& choice = m_choices[i];
    ReplyJson one = {{"index", i}};
    if (isChat)
      one["message"] = {{"role", "assistant"}, {"content", choice.text}, {"refusal", nullptr}};
    else
      one["text"] = choice.text;
    one["logprobs"] =
        m_logprobs ? logprobsJson(m_head.form, choice.tokens, 0, m_tokenizer) : ReplyJson(nullptr);
    one["finish_reason"] = nameOf(choice.finished);
    choices.push_back(std::move(one));
  }
  json["choices"] = std::move(choices);
  json["usage"] = usageJson(usage);
  return lineOf(json);
}

StreamedReply::StreamedReply(ReplyHead head, std::size_t choices, bool logprobs, bool includesUsage,
                             const text::Tokenizer& tokenizer)
    : m_head(std::move(head)),
      m_choices(choices),
      m_logprobs(logprobs),
      m_includesUsage(includesUsage),
      m_tokenizer(tokenizer),
      m_offsets(choices) {}

std::string StreamedReply::begin() {
  if (m_head.form != AnswerForm::Chat) return {};
  std::string text;
  for (std::size_t i = 0; i < m_choices; ++i) {
    ReplyJson json = headJson(m_head, "chat.completion.chunk");
    json["choices"] = ReplyJson::array({{{"index", i},
                                         {"delta", {{"role", "assistant"}, {"content", ""}}},
                                         {"logprobs", nullptr},
                                         {"finish_reason", nullptr}}});
    if (m_includesUsage) json["usage"] = nullptr;
    text += eventOf(lineOf(json));
  }
  return text;
}

std::string StreamedReply::take(const AnswerPiece& piece) {
  const bool reports = m_logprobs && isReported(piece, m_tokenizer);
  if (piece.text.empty() && !reports && !piece.finished) return {};
  const bool isChat = m_head.form == AnswerForm::Chat;
  ReplyJson json = headJson(m_head, isChat ? "chat.completion.chunk" : "text_completion");
  ReplyJson one = {{"index", piece.choice}};
  if (isChat)
    one["delta"] = piece.text.empty() ? ReplyJson::object() : ReplyJson{{"content", piece.text}};
  else
    one["text"] = piece.text;
  std::size_t& offset = m_offsets[piece.choice];
  one["logprobs"] = reports ? logprobsJson(m_head.form, {piece}, offset, m_tokenizer) : ReplyJson(nullptr);
  offset += piece.text.size();
  one["finish_reason"] = piece.finished ? ReplyJson(nameOf(*piece.finished)) : ReplyJson(nullptr);
  json["choices"] = ReplyJson::array({std::move(one)});
  if (m_includesUsage) json["usage"] = nullptr;
  return eventOf(lineOf(json));
}

std::string StreamedReply::end(const AnswerUsage& usage) {
  std::string text;
  if (m_includesUsage) {
    ReplyJson json =
        headJson(m_head, m_head.form == AnswerForm::Chat ? "chat.completion.chunk" : "text_completion");
    json["choices"] = ReplyJson::array();
    json["usage"] = usageJson(usage);
    text = eventOf(lineOf(json));
  }
  return text + kDone;
}

std::string eventOf(const std::string& json) {
  return "data: " + json + "\n\n";
}

}  // namespace spanscope::server
