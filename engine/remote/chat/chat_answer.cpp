// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/chat/chat_answer.h"

#include "engine/base/counted.h"
#include "engine/base/utf8.h"
#include "engine/remote/chat/answer_json.h"
#include "engine/remote/http/http_client.h"
#include "engine/remote/protocol.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace spanscope::remote {
namespace {

using Json = nlohmann::json;

/// Whether data only keeps a connection open.
bool isKeepAlive(std::string_view words) {
  if (words.starts_with(':')) return true;
  constexpr std::array<std::string_view, 6> kWords{"ping", "pong", "keepalive", "heartbeat", "hb", "alive"};
  return std::ranges::find(kWords, lettersOf(words)) != kWords.end();
}

bool isDoneMark(std::string_view data) {
  return data == "[DONE]" || data == "[done]" || data == "\"[DONE]\"";
}

/// Throws Failure if an event reports an error.
void refuseErrors(const Json& json, std::string_view name) {
  const std::string type = textOf(json, "type");
  const Json* status = fieldOf(json, "base_resp");
  const bool isError = saysSomething(fieldOf(json, "error")) || saysSomething(fieldOf(json, "errors")) ||
                       textOf(json, "object") == "error" || type == "error" ||
                       lettersOf(name).find("error") != std::string::npos ||
                       (status != nullptr && saysSomething(fieldOf(*status, "status_code")));
  if (isError) refuseAnswer(wordsOrCode(json));
}

/// Throws Failure if a value belongs to another API than `form`.
void refuseOtherApi(const AnswerForm& form, const Json& json) {
  const std::string expected = form.title;
  for (const Protocol* protocol : protocols()) {
    if (protocol->answers == &form || !protocol->answers->isOwn(json)) continue;
    throw Failure(errorAt("answer", std::string("an answer of ") + protocol->answers->api,
                          expected + ", or a request in the protocol \"" + protocol->name + "\""));
  }
  if (const char* const api = foreignApi(json)) {
    throw Failure(errorAt("answer", std::string("an answer of ") + api,
                          expected + ". The server's address must be the address of its OpenAI-compatible "
                                     "API, usually ending in /v1"));
  }
}

void takeValue(const AnswerForm& form, std::span<ChatAnswer> answers, const Json& json, std::string_view name,
               std::vector<AnswerText>& came) {
  ChatAnswer& first = answers.front();
  if (json.is_string()) {
    const std::string& words = json.get_ref<const std::string&>();
    if (isDoneMark(words)) return endAnswers(answers, came);
    if (lettersOf(name).find("error") != std::string::npos) refuseAnswer(words);
    if (!isKeepAlive(words) && !trimmed(words).empty()) first.words = words;
    return;
  }
  if (!json.is_object()) return;
  refuseErrors(json, name);
  if (form.take(answers, json, came) || isKeepAlive(textOf(json, "type"))) return;
  refuseOtherApi(form, json);
  if (std::string words = errorWords(json); !words.empty()) first.words = std::move(words);
}

/// Whether a server ended an answer for another reason than the model or the limit.
bool isBrokenOff(std::string_view finish) {
  constexpr std::array<std::string_view, 17> kReasons{
      "error",     "abort",     "cancel",     "fail",       "filter",   "safety",
      "block",     "sensitive", "recitation", "prohibited", "refus",    "insufficient",
      "interrupt", "malformed", "overload",   "timeout",    "timelimit"};
  const std::string reason = lettersOf(finish);
  return std::ranges::any_of(
      kReasons, [&reason](std::string_view part) { return reason.find(part) != std::string::npos; });
}

/// Whether the whole text is reasoning that the server did not separate.
bool isThoughtAlone(const std::string& text) {
  const std::string_view rest = trimmed(text);
  constexpr std::string_view kBegin = "<think>";
  constexpr std::string_view kEnd = "</think>";
  if (!rest.starts_with(kBegin)) return false;
  const std::size_t end = rest.rfind(kEnd);
  return end == std::string_view::npos || end + kEnd.size() == rest.size();
}

/// Returns the text between the first occurrences of two marks in a page.
std::string between(std::string_view page, std::string_view begin, std::string_view end) {
  const std::size_t at = page.find(begin);
  if (at == std::string_view::npos) return {};
  const std::size_t from = page.find('>', at);
  const std::size_t to = from == std::string_view::npos ? from : page.find(end, from);
  return to == std::string_view::npos ? std::string()
                                      : std::string(trimmed(page.substr(from + 1, to - from - 1)));
}

/// Returns the title, the heading or the text of a page, without tags.
std::string pageWords(std::string_view page) {
  std::string title = between(page, "<title", "</title");
  if (!title.empty()) return title;
  title = between(page, "<h1", "</h1");
  if (!title.empty()) return title;
  std::string words;
  bool isTag = false;
  for (const char c : page) {
    if (c == '<') isTag = true;
    if (!isTag) words += c;
    if (c == '>') isTag = false;
  }
  return std::string(trimmed(words));
}

}  // namespace

std::string cachedText(const CachedTokens& cached) {
  switch (cached.state) {
    case CachedState::Found:
      return std::to_string(cached.tokens);
    case CachedState::MeasuredZero:
      return "0";
    case CachedState::NotReported:
      return cached.isInconsistent ? "inconsistent" : "not reported";
    case CachedState::CannotReport:
      break;
  }
  return "cannot be reported";
}

std::string takeOther(ChatAnswer& answer) {
  if (answer.choice || answer.others.empty()) return {};
  const ChatAnswer other = std::move(answer.others.front());
  answer.others.clear();
  answer.choice = other.choice;
  answer.text = other.text;
  answer.reasoning = other.reasoning;
  answer.refusal = other.refusal;
  answer.calls = other.calls;
  answer.noText = other.noText;
  answer.lacksText = other.lacksText;
  answer.finish = other.finish;
  answer.held = other.held;
  if (!other.words.empty()) answer.words = other.words;
  return answer.text;
}

std::string addText(ChatAnswer& answer, std::string_view piece, bool isEnd) {
  std::string whole = joinedText(answer.held, piece, isEnd);
  answer.text += whole;
  return whole;
}

void endAnswers(std::span<ChatAnswer> answers, std::vector<AnswerText>& came) {
  for (std::size_t i = 0; i < answers.size(); ++i) {
    std::string piece = takeOther(answers[i]);
    answers[i].isDone = true;
    piece += addText(answers[i], {}, true);
    if (!piece.empty()) came.push_back({i, std::move(piece)});
  }
}

std::vector<AnswerText> addEvent(const AnswerForm& form, std::span<ChatAnswer> answers, std::string_view data,
                                 std::string_view name) {
  std::vector<AnswerText> came;
  const std::string_view words = trimmed(data);
  const bool isError = lettersOf(name).find("error") != std::string::npos;
  if (isDoneMark(words)) {
    endAnswers(answers, came);
    return came;
  }
  if ((words.empty() && !isError) || isKeepAlive(words) || isKeepAlive(name)) return came;
  if (const std::optional<std::vector<Json>> values = valuesIn(words); values && !values->empty()) {
    for (const Json& value : *values) takeValue(form, answers, value, name, came);
    return came;
  }
  if (isError) refuseAnswer(words.empty() ? "the event " + std::string(name) : std::string(words));
  if (words.find_first_of("{[") != std::string_view::npos || !isValidUtf8(words))
    throw Failure(errorAt("answer", shownReply(words), std::string(form.title) + " in JSON"));
  answers.front().words = words;
  return came;
}

std::optional<Error> problemOf(const ChatAnswer& answer, bool mayBeEmpty) {
  const std::string ended = answer.finish.empty() ? std::string() : " (finish_reason: " + answer.finish + ")";
  const auto refuse = [](std::string found, std::string expected) {
    return errorAt("answer", std::move(found), std::move(expected));
  };
  if (!answer.refusal.empty()) return refuse("a refusal: " + shownReply(answer.refusal) + ended, "an answer");
  if (isBrokenOff(answer.finish)) {
    return refuse("an answer that the server did not complete" + ended +
                      (answer.words.empty() ? "" : ": " + shownReply(answer.words)),
                  "a complete answer");
  }
  const bool isBlank = trimmed(answer.text).empty();
  if (!answer.noText.empty() && (isBlank || answer.lacksText))
    return refuse("content that is not text: " + answer.noText + ended,
                  "a text, or a list of parts of texts");
  const bool isThought = !answer.reasoning.empty() && isBlank;
  if (isThought || isThoughtAlone(answer.text)) {
    const std::string& thoughts = isThought ? answer.reasoning : answer.text;
    return refuse("only reasoning, with " + counted(countCharacters(thoughts), "character") + ended,
                  isTokenLimit(answer.finish)
                      ? "an answer after the reasoning. A larger number of max tokens leaves space for both"
                      : "an answer after the reasoning");
  }
  if (isBlank && !answer.calls.empty())
    return refuse("a call of the tool " + shownReply(answer.calls) + ended,
                  "an answer, because no tools were offered");
  if (answer.finish.empty() && !answer.words.empty()) return refuse(shownReply(answer.words), "an answer");
  if (isBlank && !answer.choice && answer.lacksChoices)
    return refuse("an answer without choices" + ended, "one choice");
  if (isBlank && !mayBeEmpty) {
    const std::string what = answer.text.empty()
                                 ? "no text"
                                 : "an empty answer with " + counted(countCharacters(answer.text), "space");
    return refuse(what + ended + (answer.words.empty() ? "" : ": " + shownReply(answer.words)), "an answer");
  }
  return std::nullopt;
}

bool isOwnEnd(std::string_view finish) {
  return finish == "stop" || finish == "end_turn";
}

bool isTokenLimit(std::string_view finish) {
  const std::string reason = lettersOf(finish);
  return reason.find("length") != std::string::npos || reason.starts_with("maxtokens") ||
         reason.starts_with("maxoutput") || reason.find("contextwindow") != std::string::npos;
}

CachedTokens cachedOf(const ChatAnswer& answer, const ServerKindInfo& kind) {
  return cachedOf(answer, kind.cached);
}

CachedTokens cachedOf(const ChatAnswer& answer, CacheReporting reporting) {
  if (answer.cachedTokens && answer.promptTokens && *answer.cachedTokens > *answer.promptTokens)
    return {.isInconsistent = true};
  if (answer.cachedTokens)
    return {.state = *answer.cachedTokens > 0 ? CachedState::Found : CachedState::MeasuredZero,
            .tokens = *answer.cachedTokens};
  return {.state = reporting == CacheReporting::Never ? CachedState::CannotReport : CachedState::NotReported};
}

std::string errorMessage(std::string_view body) {
  const std::string_view text = trimmed(withoutByteOrderMark(body));
  const Json json = Json::parse(text, nullptr, false);
  std::string words = json.is_discarded() ? std::string() : errorWords(json);
  if (words.empty() && text.starts_with('<')) words = pageWords(text);
  if (words.empty() && json.is_discarded()) {
    // The text is an event, or an object after other words.
    ObjectScanner scanner([&words](std::string_view object) {
      const Json found = Json::parse(object, nullptr, false);
      if (words.empty() && !found.is_discarded()) words = errorWords(found);
    });
    scanner.add(text);
  }
  return shownReply(words.empty() ? text : std::string_view(words));
}

}  // namespace spanscope::remote
