// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/server/reply_json.h"

#include "engine/base/utf8.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <utility>

namespace spanscope::server {
namespace {

using ReplyJson = nlohmann::ordered_json;

std::string lineOf(const ReplyJson& json) {
  return json.dump(-1, ' ', false, ReplyJson::error_handler_t::replace);
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
bool isTold(const AnswerPiece& piece, const text::Tokenizer& tokenizer) {
  return piece.token && !tokenizer.isControl(piece.token->id);
}

/// Returns the name of a token among probabilities. Control pieces without text are spelled out.
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

/// Returns logprobs of a completion, by text: the most likely tokens and the sampled one.
ReplyJson completionLogprobs(const DrawnToken& token, const text::Tokenizer& tokenizer) {
  ReplyJson json = ReplyJson::object();
  for (const trace::TokenAlternative& other : token.alternatives)
    json.emplace(toValidUtf8(nameOf(other.token, tokenizer)), logprobOf(other.probability));
  json.emplace(toValidUtf8(nameOf(token.id, tokenizer)), logprobOf(token.probability));
  return json;
}

/// Probabilities of some tokens, in either form. `offset`: bytes of text before them.
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
  if (m_logprobs && isTold(piece, m_tokenizer)) choice.tokens.push_back(piece);
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
  const bool tells = m_logprobs && isTold(piece, m_tokenizer);
  if (piece.text.empty() && !tells && !piece.finished) return {};
  const bool isChat = m_head.form == AnswerForm::Chat;
  ReplyJson json = headJson(m_head, isChat ? "chat.completion.chunk" : "text_completion");
  ReplyJson one = {{"index", piece.choice}};
  if (isChat)
    one["delta"] = piece.text.empty() ? ReplyJson::object() : ReplyJson{{"content", piece.text}};
  else
    one["text"] = piece.text;
  std::size_t& offset = m_offsets[piece.choice];
  one["logprobs"] = tells ? logprobsJson(m_head.form, {piece}, offset, m_tokenizer) : ReplyJson(nullptr);
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
