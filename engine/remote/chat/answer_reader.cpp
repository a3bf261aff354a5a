// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/chat/answer_reader.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/remote/http/http_client.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace spanscope::remote {

namespace {

/// Max number of kept bytes of a body without an answer.
constexpr std::size_t kMostKept = std::size_t{64} << 10U;
/// Max wait after "[DONE]": only the end of the body is missing. Reading the end keeps the connection usable.
constexpr std::chrono::milliseconds kAfterDone{500};
/// Max wait after the finish reason: only the counts and "[DONE]" are missing.
constexpr std::chrono::milliseconds kAfterFinish{5000};

/// Whether the data are complete without the next line of data.
bool isOneEvent(std::string_view data) {
  return data.starts_with(':') || data.find("[DONE]") != std::string_view::npos ||
         nlohmann::json::accept(data);
}

}  // namespace

AnswerReader::AnswerReader(const AnswerForm& form, std::span<ChatAnswer> answers, std::string key,
                           Receiver receive)
    : m_form(form),
      m_answers(answers),
      m_key(std::move(key)),
      m_receive(std::move(receive)),
      m_events([this](std::string_view data) { take(data, m_events.name()); },
               {.isWhole = &isOneEvent, .stray = [this](std::string_view line) { takeStray(line); }}),
      m_objects([this](std::string_view object) {
        ++m_taken;
        take(object, {});
      }),
      m_strayObjects([this](std::string_view object) { take(object, {}); }) {}

void AnswerReader::add(std::string_view piece) {
  if (m_beginning.size() < kMostKept) m_beginning += piece.substr(0, kMostKept - m_beginning.size());
  std::string begun;
  if (m_body == Body::Unknown) {
    const std::string_view body = withoutByteOrderMark(m_beginning);
    const std::size_t first = body.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || kByteOrderMark.starts_with(body)) return;
    m_body = body[first] == '<'                         ? Body::Page
             : body[first] == '{' || body[first] == '[' ? Body::Objects
                                                        : Body::Events;
    begun = body;
    piece = begun;
  }
  if (areDone()) return;
  if (m_body == Body::Events) m_events.add(piece);
  if (m_body == Body::Objects) m_objects.add(piece);
  if (m_objects.held() > EventStream::kMostBytes) {
    throw Failure(errorAt("answer", "more than " + std::to_string(EventStream::kMostBytes) + " bytes",
                          "a smaller answer"));
  }
}

void AnswerReader::end() {
  if (m_body == Body::Events && !areDone()) {
    m_events.end();
    if (!haveEnded() && !m_stray.empty()) m_answers.front().words = errorMessage(withoutKey(m_stray, m_key));
  }
  settle();
  if (m_body == Body::Objects && !areDone()) {
    const std::string& between = m_objects.between();
    if (between.find("[DONE]") != std::string::npos) take("[DONE]", {});
    const auto hasCome = [](const ChatAnswer& answer) { return answer.choice.has_value(); };
    if (m_taken == 1 && !m_objects.isInside() && std::ranges::all_of(m_answers, hasCome)) take("[DONE]", {});
  }
  if (haveEnded()) return;
  const auto refuse = [](std::string found, std::string expected) {
    throw Failure(errorAt("answer", std::move(found), std::move(expected)));
  };
  if (const std::string& words = m_answers.front().words; !words.empty())
    refuse(shownReply(withoutKey(words, m_key)), m_form.title);
  const auto isMissing = [](const ChatAnswer& answer) { return !answer.choice.has_value(); };
  const auto missing = std::ranges::count_if(m_answers, isMissing);
  if (m_body == Body::Objects && m_answers.size() > 1 && missing > 0) {
    refuse(counted(m_answers.size() - static_cast<std::size_t>(missing), "choice"),
           counted(m_answers.size(), "choice"));
  }
  const bool hasText =
      std::ranges::any_of(m_answers, [](const ChatAnswer& answer) { return !answer.text.empty(); });
  if (!hasText && m_answers.size() == 1 && !m_answers.front().choice && m_answers.front().lacksChoices)
    refuse("an answer without choices", "one choice");
  if (m_body == Body::Events || hasText)
    refuse(/*id:stream-ended-before*/ "the end of the stream before the end of the answer",
           "the whole answer");
  if (m_body == Body::Unknown) refuse("an empty body", m_form.title);
  refuse(errorMessage(withoutKey(m_beginning, m_key)),
         std::string(m_form.title) + (m_body == Body::Page ? ", not a web page" : " in JSON"));
}

void AnswerReader::settle() {
  if (m_answers.size() != 1) return;
  const std::string piece = takeOther(m_answers.front());
  if (!piece.empty()) m_receive({{0, piece}});
}

std::optional<std::chrono::milliseconds> AnswerReader::patience() const {
  if (m_doneAt) {
    const auto waited = std::chrono::steady_clock::now() - *m_doneAt;
    return std::max(std::chrono::milliseconds(0),
                    kAfterDone - std::chrono::duration_cast<std::chrono::milliseconds>(waited));
  }
  if (haveEnded()) return kAfterFinish;
  return std::nullopt;
}

void AnswerReader::take(std::string_view data, std::string_view name) {
  if (areDone()) return;
  // An error shows only the beginning of the data. The key is removed first, because a key that is cut cannot
  // be recognized.
  const std::string clean = withoutKey(data, m_key);
  std::vector<AnswerText> came;
  try {
    came = addEvent(m_form, m_answers, data, name);
  } catch (const Failure&) {
    if (clean == data) throw;
    std::vector<ChatAnswer> others(m_answers.size());
    addEvent(m_form, others, clean, name);
    throw Failure(errorAt("answer", /*id:error-server*/ "an error from the server", "an answer"));
  }
  if (areDone()) m_doneAt = std::chrono::steady_clock::now();
  m_receive(came);
}

void AnswerReader::takeStray(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon != std::string_view::npos) {
    const std::size_t first = line.find_first_not_of(" \t");
    const std::size_t last = line.substr(0, colon).find_last_not_of(" \t");
    const std::string_view field =
        last == std::string_view::npos ? std::string_view() : line.substr(first, last + 1 - first);
    // The HTML definition does not allow spaces before the name of a field.
    if (field == "data") return take(line.substr(colon + 1), m_events.name());
    // Older versions of llama.cpp send errors in this form.
    if (field == "error") return take(line.substr(colon + 1), "error");
  }
  if (m_stray.size() + line.size() > kMostKept) return;
  m_stray += line;
  m_stray += '\n';
  if (m_strayObjects.isInside() || line.starts_with('{')) m_strayObjects.add(line);
}

bool AnswerReader::haveEnded() const {
  return std::ranges::all_of(m_answers, [](const ChatAnswer& answer) { return answer.hasEnded(); });
}

bool AnswerReader::areDone() const {
  return std::ranges::all_of(m_answers, [](const ChatAnswer& answer) { return answer.isDone; });
}

void EventStream::add(std::string_view piece) {
  for (const char c : piece) {
    if (c == '\n' && m_wasReturn) {
      m_wasReturn = false;
      continue;
    }
    m_wasReturn = c == '\r';
    if (c == '\n' || c == '\r') {
      takeLine();
      continue;
    }
    m_line += c;
    if (m_line.size() + m_data.size() > kMostBytes)
      throw Failure(
          errorAt("event", "more than " + std::to_string(kMostBytes) + " bytes", "a smaller event"));
  }
}

void EventStream::end() {
  if (!m_line.empty()) takeLine();
  dispatch();
}

void EventStream::takeLine() {
  std::string_view line = m_line;
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (m_isFirstLine && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  m_isFirstLine = false;
  if (line.empty()) {
    m_line.clear();
    dispatch();
    return;
  }
  const std::size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "data") {
    // Incomplete data is checked again at twice the size. The checks then take little time.
    if (m_hasData && m_hooks.isWhole && m_data.size() >= 2 * m_checked) {
      m_checked = m_data.size();
      if (m_hooks.isWhole(m_data)) dispatch();
    }
    if (m_hasData) m_data += '\n';
    m_data += value;
    m_hasData = true;
  } else if (field == "event") {
    m_name = value;
  } else if (!field.empty() && field != "id" && field != "retry" && m_hooks.stray) {
    m_hooks.stray(line);
  }
  m_line.clear();
}

void EventStream::dispatch() {
  if (m_hasData) {
    std::string data;
    data.swap(m_data);
    m_hasData = false;
    m_receive(data);
  }
  m_name.clear();
  m_checked = 0;
}

}  // namespace spanscope::remote
